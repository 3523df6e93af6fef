#include "http/connection.h"

#include <algorithm>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>  // before Asio, which forgets it

#include "common/log.h"
#include "http/origin.h"
#include "http/target.h"

namespace pingloom::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using beast::error_code;
using BeastRequest = beast::http::request<beast::http::string_body>;
using BeastResponse = beast::http::response<beast::http::string_body>;

// For the peer's part in opening and in closing a WebSocket.
constexpr beast::websocket::stream_base::duration kHandshakeTimeout = std::chrono::seconds(10);

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

// Every answer carries these. The page uses nothing but its own files and its own WebSocket.
template <typename Fields>
void setSecurityHeaders(Fields& fields) {
  fields.set("Content-Security-Policy",
             "default-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
             "frame-ancestors 'none'");
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("Referrer-Policy", "no-referrer");
  fields.set("X-Frame-Options", "DENY");
}

class WebSocketConnection : public std::enable_shared_from_this<WebSocketConnection> {
 public:
  WebSocketConnection(beast::tcp_stream stream, std::shared_ptr<const Service> service,
                      std::unique_ptr<ConnectionSlot> slot)
      : service_(std::move(service)),
        slot_(std::move(slot)),
        stream_(std::move(stream)),
        received_(service_->options.limits.websocket_message_bytes) {
    ++service_->options.counters->websockets_open;
  }
  ~WebSocketConnection() { --service_->options.counters->websockets_open; }
  WebSocketConnection(const WebSocketConnection&) = delete;
  WebSocketConnection& operator=(const WebSocketConnection&) = delete;

  void accept(WebSocketEndpoint& endpoint, const BeastRequest& request) {
    session_ = endpoint.open([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->wake();
    });
    beast::get_lowest_layer(stream_).expires_never();  // the WebSocket has its own timeouts
    beast::websocket::stream_base::timeout timeout{};
    timeout.idle_timeout = std::chrono::nanoseconds(service_->options.limits.idle_timeout);
    timeout.handshake_timeout = std::min(timeout.idle_timeout, kHandshakeTimeout);
    timeout.keep_alive_pings = true;
    stream_.set_option(timeout);
    stream_.set_option(beast::websocket::stream_base::decorator(
        [](beast::websocket::response_type& response) { setSecurityHeaders(response); }));
    stream_.read_message_max(service_->options.limits.websocket_message_bytes);
    stream_.auto_fragment(false);
    stream_.async_accept(request, [self = shared_from_this()](error_code error) {
      if (error) return;
      self->opened_ = true;
      self->readNext();
      self->writeNext();
    });
  }

 private:
  void wake() {
    if (!opened_ || writing_ || wake_pending_) return;
    wake_pending_ = true;  // not from within the caller: it may be in the middle of something
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      self->wake_pending_ = false;
      self->writeNext();
    });
  }

  void writeNext() {
    if (writing_ || closing_) return;
    frame_ = session_->next();
    if (!frame_) return;
    writing_ = true;
    stream_.binary(frame_->binary);
    stream_.async_write(
        asio::buffer(frame_->payload), [self = shared_from_this()](error_code error, std::size_t) {
          self->writing_ = false;
          if (error) return;  // the read that is under way ends the connection
          ++self->service_->options.counters->frames_sent;
          self->service_->options.counters->frame_bytes_sent += self->frame_->payload.size();
          self->writeNext();
        });
  }

  void readNext() {
    stream_.async_read(received_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->end();
      const auto data = self->received_.cdata();
      if (!self->session_->received({static_cast<const char*>(data.data()), data.size()})) {
        return self->close();
      }
      self->received_.clear();
      self->readNext();
    });
  }

  void close() {
    closing_ = true;
    stream_.async_close(beast::websocket::close_code::policy_error,
                        [self = shared_from_this()](error_code) { self->end(); });
  }

  // A write that a dead peer holds up ends with the socket.
  void end() {
    closing_ = true;
    beast::get_lowest_layer(stream_).close();
  }

  std::shared_ptr<const Service> service_;
  std::unique_ptr<ConnectionSlot> slot_;
  beast::websocket::stream<beast::tcp_stream> stream_;
  beast::flat_buffer received_;
  std::unique_ptr<WebSocketSession> session_;
  std::optional<Frame> frame_;  // being written
  bool opened_ = false;
  bool writing_ = false;
  bool wake_pending_ = false;
  bool closing_ = false;
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(asio::ip::tcp::socket socket, std::shared_ptr<const Service> service)
      : service_(std::move(service)),
        slot_(std::make_unique<ConnectionSlot>(service_->options.counters)),
        stream_(std::move(socket)),
        // Pipelined requests wait here and, beyond it, in the kernel.
        buffer_(service_->options.limits.header_bytes + service_->options.limits.body_bytes) {}

  ~HttpConnection() { answerTaken(); }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void readNext() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(service_->options.limits.header_bytes));
    parser_->body_limit(service_->options.limits.body_bytes);
    limitTime();
    beast::http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](error_code error, std::size_t) { self->readDone(error); });
  }

 private:
  // How a request wants to be answered.
  struct Manner {
    unsigned version = 11;
    bool keep_alive = false;
    bool head = false;
  };

  void limitTime() {
    stream_.expires_after(std::chrono::nanoseconds(service_->options.limits.idle_timeout));
  }

  void readDone(error_code error) {
    using HttpError = beast::http::error;
    if (!error) return dispatch();
    if (error.category() != beast::http::make_error_code(HttpError::bad_method).category() ||
        error == HttpError::end_of_stream || error == HttpError::partial_message) {
      return;  // the peer has gone, or took too long
    }
    if (error == HttpError::body_limit) {
      refuse(413,
             fmt::format("the body is larger than {} bytes", service_->options.limits.body_bytes));
    } else if (error == HttpError::header_limit || error == HttpError::buffer_overflow) {
      refuse(431, fmt::format("the request's header is larger than {} bytes",
                              service_->options.limits.header_bytes));
    } else {
      refuse(400, "not a valid HTTP request: " + error.message());
    }
  }

  // Answers what no handler shall see, then ends the connection.
  void refuse(unsigned status, std::string_view reason) {
    ++service_->options.counters->requests_bad;
    answer(errorResponse(status, reason), {11, false, false});
  }

  void dispatch() {
    BeastRequest request = parser_->release();
    const std::string_view host = view(request[beast::http::field::host]);
    if (request.target().size() > service_->options.limits.target_bytes) {
      return refuse(414, fmt::format("the request's target is longer than {} bytes",
                                     service_->options.limits.target_bytes));
    }
    if (service_->check_host && !hostAllowed(host, service_->options.host_names)) {
      return refuse(421,
                    "this server is not known by the name in the Host header; use its IP "
                    "address or localhost");
    }
    auto target = parseTarget(view(request.target()));
    if (!target) return refuse(400, target.error().text());
    if (beast::websocket::is_upgrade(request)) return upgrade(request, target->path);

    const bool head = request.method() == beast::http::verb::head;
    const bool reads = head || request.method() == beast::http::verb::get;
    // By its address: a page of anybody's can give the server a name of its own.
    if (!reads && !(hostAllowed(host, service_->options.host_names) &&
                    originAllowed(view(request[beast::http::field::origin]), host))) {
      return refuse(403,
                    "only this server's own pages, opened by its IP address, may ask for this");
    }
    ++service_->options.counters->requests;
    Request plain{head ? "GET" : std::string(view(request.method_string())),
                  std::move(target->path), std::move(target->query), std::move(request.body()),
                  std::string(view(request[beast::http::field::content_type]))};
    const Manner manner{request.version(), request.keep_alive(), head};
    Answer answered = handle(plain);
    if (auto* const response = std::get_if<Response>(&answered)) {
      return answer(std::move(*response), manner);
    }
    stream_.expires_never();  // whoever answers has a limit of his own
    std::get<Later>(answered)([self = shared_from_this(), manner](Response response) mutable {
      const auto executor = self->stream_.get_executor();
      // Moved: the connection ends on its own thread.
      asio::post(executor,
                 [self = std::move(self), manner, response = std::move(response)]() mutable {
                   self->answer(std::move(response), manner);
                 });
    });
  }

  Answer handle(const Request& request) {
    try {
      return service_->handler(request);
    } catch (const std::exception& failure) {
      log::error("http {} {}: {}", request.method, request.path, failure.what());
      return errorResponse(500, "internal error; the log has more");
    }
  }

  void upgrade(const BeastRequest& request, const std::string& path) {
    const auto endpoint = service_->websockets.find(path);
    if (endpoint == service_->websockets.end()) return refuse(404, "no WebSocket at this path");
    if (!originAllowed(view(request[beast::http::field::origin]),
                       view(request[beast::http::field::host]))) {
      return refuse(403, "a WebSocket may only be opened by this server's own pages");
    }
    // From here the stream belongs to the WebSocket; the rest of buffer_ is empty, because a client
    // waits for the answer before it sends frames.
    std::make_shared<WebSocketConnection>(std::move(stream_), service_, std::move(slot_))
        ->accept(*endpoint->second, request);
  }

  void answer(Response&& response, const Manner& manner) {
    ServerCounters& counters = *service_->options.counters;
    // One by itself may be larger than all together.
    if (counters.unsent_bytes > 0 &&
        counters.unsent_bytes + response.body.size() > service_->options.limits.unsent_bytes) {
      response = errorResponse(503, "too many large answers are under way");
    }
    unsent_ = response.body.size();
    counters.unsent_bytes += unsent_;
    response_.emplace(static_cast<beast::http::status>(response.status), manner.version);
    response_->set(beast::http::field::content_type, response.content_type);
    response_->set(beast::http::field::cache_control, "no-store");
    setSecurityHeaders(*response_);
    for (const auto& [name, value] : response.headers) response_->set(name, value);
    response_->keep_alive(manner.keep_alive);
    response_->content_length(response.body.size());
    if (!manner.head) response_->body() = std::move(response.body);
    limitTime();
    beast::http::async_write(
        stream_, *response_,
        [self = shared_from_this(), keep_alive = manner.keep_alive](error_code error, std::size_t) {
          if (error) return;
          self->answerTaken();
          keep_alive ? self->readNext() : self->linger();
        });
  }

  void answerTaken() {
    response_.reset();
    service_->options.counters->unsent_bytes -= std::exchange(unsent_, 0);
  }

  // A close with unread bytes in the socket would be a reset, which may destroy the answer on its
  // way: the peer gets a second to read it and to close.
  void linger() {
    error_code ignored;
    stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    stream_.expires_after(std::chrono::seconds(1));
    discard();
  }
  void discard() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this()](error_code error, std::size_t) {
                              if (!error) self->discard();
                            });
  }

  std::shared_ptr<const Service> service_;
  std::unique_ptr<ConnectionSlot> slot_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  std::optional<BeastResponse> response_;
  std::size_t unsent_ = 0;
};

}  // namespace

void serveConnection(asio::ip::tcp::socket socket, std::shared_ptr<const Service> service) {
  std::make_shared<HttpConnection>(std::move(socket), std::move(service))->readNext();
}

}  // namespace pingloom::http
