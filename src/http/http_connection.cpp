#include "http/http_connection.h"

#include <boost/beast/websocket/rfc6455.hpp>
#include <chrono>
#include <exception>
#include <utility>

#include "common/log.h"
#include "http/gzip.h"
#include "http/media_type.h"
#include "http/websocket_connection.h"

namespace pingloom::http {
namespace {

constexpr std::size_t kSmallAnswer = 64 * 1024;

// Compresses the body where the client allows it.
void encode(Response& response, bool allowed) {
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (!allowed) return;
  auto compressed = gzip(response.body);
  if (!compressed) return;
  response.body = std::move(*compressed);
  response.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace

HttpConnection::HttpConnection(ByteStream stream, std::shared_ptr<Service> service,
                               std::unique_ptr<ConnectionSlot> slot)
    : service_(std::move(service)),
      slot_(std::move(slot)),
      stream_(std::move(stream)),
      // Pipelined requests wait in this buffer and, beyond its size, in the kernel.
      buffer_(service_->options.limits.header_bytes + service_->options.limits.body_bytes) {}

HttpConnection::~HttpConnection() { answerTaken(); }

void HttpConnection::refuseAll(Refusal reason, const beast::flat_buffer& received) {
  refuse_all_ = reason;
  buffer_.commit(asio::buffer_copy(buffer_.prepare(received.size()), received.data()));
  readNext();
}

void HttpConnection::readNext() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(service_->options.limits.header_bytes));
  parser_->body_limit(service_->options.limits.body_bytes);
  limitTime();
  beast::http::async_read(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](error_code error, std::size_t) { self->readDone(error); });
}

void HttpConnection::limitTime() {
  beast::get_lowest_layer(stream_).expires_after(
      std::chrono::nanoseconds(service_->options.limits.idle_timeout));
}

void HttpConnection::readDone(error_code error) {
  using HttpError = beast::http::error;
  if (!error) return dispatch();
  if (error.category() != beast::http::make_error_code(HttpError::bad_method).category() ||
      error == HttpError::end_of_stream || error == HttpError::partial_message) {
    return;  // the peer has closed the connection or timed out
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

void HttpConnection::refuse(unsigned status, std::string_view reason) {
  ++service_->options.counters->requests_bad;
  answer(errorResponse(status, reason), {11, false, false});
}

void HttpConnection::dispatch() {
  BeastRequest request = parser_->release();
  const bool head = request.method() == beast::http::verb::head;
  const Manner manner{request.version(), request.keep_alive(), head,
                      allowsGzip(view(request[beast::http::field::accept_encoding]))};
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
  beast::get_lowest_layer(stream_).expires_never();  // handlers bound their own time
  std::get<Later>(answered)([self = shared_from_this(), manner](Response response) mutable {
    const auto executor = self->stream_.get_executor();
    // The connection is moved so that it ends on its own thread.
    asio::post(executor,
               [self = std::move(self), manner, response = std::move(response)]() mutable {
                 self->slot_->endWaiting();
                 self->answer(std::move(response), manner);
               });
  });
}

Answer HttpConnection::handle(const Request& request) {
  const Nanos begin = monotonicNow();
  try {
    Answer answered = service_->handler(request);
    service_->chargeTime(slot_->peer(), monotonicNow() - begin);
    return answered;
  } catch (const std::exception& failure) {
    log::error("http {} {}: {}", request.method, request.path, failure.what());
    return errorResponse(500, "internal error; see the log");
  }
}

void HttpConnection::upgrade(const BeastRequest& request, const Request& checked) {
  WebSocketEndpoint& endpoint = *service_->websockets.at(checked.path);
  // The WebSocket owns the stream from here on. buffer_ is empty, because a client waits for the
  // answer before it sends frames.
  serveWebSocket(std::move(stream_), service_, std::move(slot_), checked.pass, endpoint, request);
}

void HttpConnection::answer(Response&& response, const Manner& manner) {
  if (response.stream != nullptr) return answerByPieces(std::move(response), manner);
  ServerCounters& counters = *service_->options.counters;
  if (isWorthGzip(response)) encode(response, manner.gzip);
  // A single answer may exceed the limit on its own; the number of connections bounds small ones.
  if (response.body.size() > kSmallAnswer && counters.unsent_bytes > 0 &&
      counters.unsent_bytes + response.body.size() > service_->options.limits.unsent_bytes) {
    counters.refuse(Refusal::kBusy);
    response = answerTo(Refusal::kBusy);
  }
  unsent_ = response.body.size();
  counters.unsent_bytes += unsent_;
  response_.emplace(static_cast<beast::http::status>(response.status), manner.version);
  setHeaders(*response_, response, service_->options);
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

void HttpConnection::answerTaken() {
  response_.reset();
  service_->options.counters->unsent_bytes -= std::exchange(unsent_, 0);
}

// Closing a socket with unread bytes would send a reset, which may destroy the answer in flight, so
// the peer gets a second to read the answer and to close.
void HttpConnection::linger() {
  beast::get_lowest_layer(stream_).expires_after(std::chrono::seconds(1));
  stream_.sayGoodbye(Completion([self = shared_from_this()](error_code) { self->lingerBelow(); }));
}

void HttpConnection::lingerBelow() {
  error_code ignored;
  auto& lowest = beast::get_lowest_layer(stream_);
  lowest.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  discard();
}

void HttpConnection::discard() {
  buffer_.clear();
  beast::get_lowest_layer(stream_).async_read_some(
      buffer_.prepare(4096), [self = shared_from_this()](error_code error, std::size_t) {
        if (!error) self->discard();
      });
}

}  // namespace pingloom::http
