// The part of HttpConnection that sends an answer by pieces (BodyStream): chunked, or for HTTP/1.0
// up to the end of the connection. One piece is in memory at a time.
#include <fmt/format.h>

#include <boost/asio/write.hpp>
#include <exception>
#include <sstream>
#include <utility>

#include "common/log.h"
#include "http/http_connection.h"

namespace pingloom::http {
namespace {

constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace

void HttpConnection::answerByPieces(Response&& response, const Manner& manner) {
  pieces_manner_ = manner;
  const bool chunked = manner.version >= 11;
  pieces_manner_.keep_alive = manner.keep_alive && (chunked || manner.head);
  beast::http::response<beast::http::string_body> head(
      static_cast<beast::http::status>(response.status), manner.version);
  setHeaders(head, response, service_->options);
  head.keep_alive(pieces_manner_.keep_alive);
  if (chunked) head.chunked(true);
  if (!manner.head) pieces_ = std::move(response.stream);
  std::ostringstream text;
  text << head.base();
  write(std::move(text).str());
}

void HttpConnection::askForPiece() {
  if (pieces_ == nullptr) return pieces_manner_.keep_alive ? readNext() : linger();
  beast::get_lowest_layer(stream_).expires_never();  // those who make pieces bound their own time
  const Nanos begin = monotonicNow();
  pieces_->next([self = shared_from_this()](std::optional<std::string> piece) mutable {
    const auto executor = self->stream_.get_executor();
    // The connection is moved so that it ends on its own thread.
    asio::post(executor, [self = std::move(self), piece = std::move(piece)]() mutable {
      self->sendPiece(std::move(piece));
    });
  });
  service_->chargeTime(slot_->peer(), monotonicNow() - begin);
}

// Returning without another operation ends the connection.
void HttpConnection::sendPiece(std::optional<std::string> piece) {
  if (!piece) return;
  const bool chunked = pieces_manner_.version >= 11;
  if (piece->empty()) {
    pieces_.reset();
    return chunked ? write(std::string(kLastChunk)) : askForPiece();
  }
  ServerCounters& counters = *service_->options.counters;
  if (counters.unsent_bytes > 0 &&
      counters.unsent_bytes + piece->size() > service_->options.limits.unsent_bytes) {
    return counters.refuse(Refusal::kBusy);
  }
  write(chunked ? fmt::format("{:x}\r\n{}\r\n", piece->size(), *piece) : std::move(*piece));
}

void HttpConnection::write(std::string bytes) {
  piece_ = std::move(bytes);
  unsent_ = piece_.size();
  service_->options.counters->unsent_bytes += unsent_;
  limitTime();
  asio::async_write(stream_, asio::buffer(piece_),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      if (error) return;
                      self->answerTaken();
                      self->askForPiece();
                    });
}

}  // namespace pingloom::http
