#include "http/websocket_connection.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>  // before Asio, which forgets it

#include "common/log.h"

namespace pingloom::http {
namespace {

class WebSocketConnection : public std::enable_shared_from_this<WebSocketConnection> {
 public:
  WebSocketConnection(ByteStream stream, std::shared_ptr<Service> service,
                      std::unique_ptr<ConnectionSlot> slot, const Pass& pass)
      : service_(std::move(service)),
        slot_(std::move(slot)),
        pass_(pass),
        stream_(std::move(stream)),
        write_limit_(stream_.get_executor()),
        use_check_(stream_.get_executor()),
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
    using Duration = beast::websocket::stream_base::duration;
    beast::websocket::stream_base::timeout timeout{};
    timeout.idle_timeout = std::chrono::nanoseconds(service_->options.limits.idle_timeout);
    // The time for the peer's part of the opening and the closing handshake.
    timeout.handshake_timeout = std::min<Duration>(timeout.idle_timeout, std::chrono::seconds(10));
    timeout.keep_alive_pings = true;
    stream_.set_option(timeout);
    stream_.set_option(beast::websocket::stream_base::decorator(
        [service = service_](beast::websocket::response_type& response) {
          setSecurityHeaders(response, service->options);
        }));
    stream_.read_message_max(service_->options.limits.websocket_message_bytes);
    stream_.auto_fragment(false);
    // This runs within a read, which keeps this object alive.
    stream_.control_callback([this](beast::websocket::frame_type kind, beast::string_view) {
      if (kind != beast::websocket::frame_type::close) pinged();
    });
    stream_.async_accept(request, [self = shared_from_this()](error_code error) {
      if (error) return;
      self->opened_ = true;
      self->checkUse();
      self->readNext();
      self->writeNext();
    });
  }

 private:
  void wake() {
    if (!opened_ || writing_ || wake_pending_) return;
    wake_pending_ = true;  // the wake is posted, because the caller may not expect a call to next()
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      self->wake_pending_ = false;
      self->writeNext();
    });
  }

  void writeNext() {
    if (writing_ || closing_) return;
    if (!mayStay()) return close();
    if (!takeFrame()) return;
    writing_ = true;
    limitWrite();
    stream_.binary(frame_->binary);
    stream_.async_write(
        asio::buffer(*frame_->payload), [self = shared_from_this()](error_code error, std::size_t) {
          self->writing_ = false;
          if (error) return;  // the read in flight ends the connection
          ++self->service_->options.counters->frames_sent;
          self->service_->options.counters->frame_bytes_sent += self->frame_->payload->size();
          self->writeNext();
        });
  }

  // A viewer that missed a frame would show wrong data, so it has to reconnect.
  bool takeFrame() {
    try {
      frame_ = session_->next();
      return frame_.has_value();
    } catch (const std::exception& failure) {
      log::error("http: cannot make a frame: {}", failure.what());
      end();
      return false;
    }
  }

  // A peer that reads no frames may still answer pings.
  void limitWrite() {
    write_limit_.expires_after(std::chrono::nanoseconds(service_->options.limits.idle_timeout));
    write_limit_.async_wait([weak = weak_from_this()](error_code) {
      const auto self = weak.lock();
      // The clock decides, because the timer's write may have ended and another one begun.
      const auto now = asio::steady_timer::clock_type::now();
      if (self && self->writing_ && self->write_limit_.expiry() <= now) self->end();
    });
  }

  // A peer that only answers pings would otherwise keep the connection forever.
  void checkUse() {
    use_check_.expires_after(std::chrono::nanoseconds(service_->options.limits.idle_timeout));
    use_check_.async_wait([weak = weak_from_this()](error_code error) {
      const auto self = weak.lock();
      if (error || !self || self->closing_) return;
      if (self->session_->inUse()) return self->checkUse();
      self->service_->options.counters->refuse(Refusal::kUnused);
      self->close();
    });
  }

  // Pings and pongs count as messages.
  void pinged() {
    if (closing_ || service_->takeRequest(slot_->peer())) return;
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->close(); });
  }

  void readNext() {
    stream_.async_read(received_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->end();
      const auto data = self->received_.cdata();
      if (!self->service_->takeRequest(self->slot_->peer()) ||
          !self->session_->received({static_cast<const char*>(data.data()), data.size()})) {
        return self->close();
      }
      self->received_.clear();
      self->readNext();
    });
  }

  // The viewer's session may have ended, or its token may have been removed.
  bool mayStay() const {
    const auto& access = service_->options.access;
    return access == nullptr || access->holds(pass_, monotonicNow());
  }

  void close() {
    if (std::exchange(closing_, true)) return;
    stream_.async_close(beast::websocket::close_code::policy_error,
                        [self = shared_from_this()](error_code) { self->end(); });
  }

  // Closing the socket ends a write that a dead peer holds up.
  void end() {
    closing_ = true;
    beast::get_lowest_layer(stream_).close();
  }

  std::shared_ptr<Service> service_;
  std::unique_ptr<ConnectionSlot> slot_;
  const Pass pass_;
  beast::websocket::stream<ByteStream, /* compression */ false> stream_;
  asio::steady_timer write_limit_;
  asio::steady_timer use_check_;
  beast::flat_buffer received_;
  std::unique_ptr<WebSocketSession> session_;
  std::optional<Frame> frame_;  // in flight
  bool opened_ = false;
  bool writing_ = false;
  bool wake_pending_ = false;
  bool closing_ = false;
};

}  // namespace

void serveWebSocket(ByteStream stream, std::shared_ptr<Service> service,
                    std::unique_ptr<ConnectionSlot> slot, const Pass& pass,
                    WebSocketEndpoint& endpoint, const BeastRequest& upgrade) {
  std::make_shared<WebSocketConnection>(std::move(stream), std::move(service), std::move(slot),
                                        pass)
      ->accept(endpoint, upgrade);
}

}  // namespace pingloom::http
