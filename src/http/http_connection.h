// A connection that carries requests, from the first to the last. Internal to src/http. The HTTP
// thread.
#pragma once

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>  // before Asio, which forgets it

#include "common/log.h"
#include "http/connection.h"
#include "http/request_check.h"
#include "http/websocket_connection.h"

namespace pingloom::http {

template <typename Stream>
class HttpConnection : public std::enable_shared_from_this<HttpConnection<Stream>> {
 public:
  HttpConnection(Stream stream, std::shared_ptr<Service> service,
                 std::unique_ptr<ConnectionSlot> slot)
      : service_(std::move(service)),
        slot_(std::move(slot)),
        stream_(std::move(stream)),
        // Pipelined requests wait here and, beyond it, in the kernel.
        buffer_(service_->options.limits.header_bytes + service_->options.limits.body_bytes) {}

  ~HttpConnection() { answerTaken(); }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // Whatever is asked, it is this; `received` came before.
  void refuseAll(Refusal reason, const beast::flat_buffer& received) {
    refuse_all_ = reason;
    buffer_.commit(asio::buffer_copy(buffer_.prepare(received.size()), received.data()));
    readNext();
  }

  void readNext() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(service_->options.limits.header_bytes));
    parser_->body_limit(service_->options.limits.body_bytes);
    limitTime();
    beast::http::async_read(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](error_code error, std::size_t) {
                              self->readDone(error);
                            });
  }

 private:
  static constexpr std::size_t kSmallAnswer = 64 * 1024;

  // How a request wants to be answered.
  struct Manner {
    unsigned version = 11;
    bool keep_alive = false;
    bool head = false;
  };

  void limitTime() {
    beast::get_lowest_layer(stream_).expires_after(
        std::chrono::nanoseconds(service_->options.limits.idle_timeout));
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
    const bool head = request.method() == beast::http::verb::head;
    const Manner manner{request.version(), request.keep_alive(), head};
    if (refuse_all_) return answer(answerTo(*refuse_all_), {manner.version, false, head});
    auto checked = check(*service_, slot_->peer(), request);
    if (!checked) {
      const bool stays = manner.keep_alive && !checked.error().ends_connection;
      return answer(std::move(checked.error().answer), {manner.version, stays, head});
    }
    if (beast::websocket::is_upgrade(request)) return upgrade(request, *checked);
    Answer answered = handle(*checked);
    if (auto* const response = std::get_if<Response>(&answered)) {
      return answer(std::move(*response), manner);
    }
    if (!slot_->beginWaiting()) return answer(answerTo(Refusal::kRate), manner);
    beast::get_lowest_layer(stream_).expires_never();  // whoever answers has a limit of his own
    std::get<Later>(answered)([self = this->shared_from_this(), manner](Response response) mutable {
      const auto executor = self->stream_.get_executor();
      // Moved: the connection ends on its own thread.
      asio::post(executor,
                 [self = std::move(self), manner, response = std::move(response)]() mutable {
                   self->slot_->endWaiting();
                   self->answer(std::move(response), manner);
                 });
    });
  }

  Answer handle(const Request& request) {
    const Nanos begin = monotonicNow();
    try {
      Answer answered = service_->handler(request);
      service_->chargeTime(slot_->peer(), monotonicNow() - begin);
      return answered;
    } catch (const std::exception& failure) {
      log::error("http {} {}: {}", request.method, request.path, failure.what());
      return errorResponse(500, "internal error; the log has more");
    }
  }

  void upgrade(const BeastRequest& request, const Request& checked) {
    WebSocketEndpoint& endpoint = *service_->websockets.at(checked.path);
    // From here the stream belongs to the WebSocket; the rest of buffer_ is empty, because a client
    // waits for the answer before it sends frames.
    std::make_shared<WebSocketConnection<Stream>>(std::move(stream_), service_, std::move(slot_),
                                                  checked.pass)
        ->accept(endpoint, request);
  }

  void answer(Response&& response, const Manner& manner) {
    ServerCounters& counters = *service_->options.counters;
    // One by itself may be larger than all together; small ones are bounded by the connections.
    if (response.body.size() > kSmallAnswer && counters.unsent_bytes > 0 &&
        counters.unsent_bytes + response.body.size() > service_->options.limits.unsent_bytes) {
      counters.refuse(Refusal::kBusy);
      response = answerTo(Refusal::kBusy);
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
    beast::http::async_write(stream_, *response_,
                             [self = this->shared_from_this(), keep_alive = manner.keep_alive](
                                 error_code error, std::size_t) {
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
    beast::get_lowest_layer(stream_).expires_after(std::chrono::seconds(1));
    if constexpr (std::is_same_v<Stream, beast::tcp_stream>) {
      lingerBelow();
    } else {
      stream_.async_shutdown(
          [self = this->shared_from_this()](error_code) { self->lingerBelow(); });
    }
  }
  void lingerBelow() {
    error_code ignored;
    auto& lowest = beast::get_lowest_layer(stream_);
    lowest.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    discard();
  }
  void discard() {
    buffer_.clear();
    beast::get_lowest_layer(stream_).async_read_some(
        buffer_.prepare(4096), [self = this->shared_from_this()](error_code error, std::size_t) {
          if (!error) self->discard();
        });
  }

  std::shared_ptr<Service> service_;
  std::unique_ptr<ConnectionSlot> slot_;
  Stream stream_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  std::optional<beast::http::response<beast::http::string_body>> response_;
  std::size_t unsent_ = 0;
  std::optional<Refusal> refuse_all_;
};

}  // namespace pingloom::http
