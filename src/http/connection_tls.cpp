// Connections to a port that speaks TLS, up to the end of the handshake.
#include <boost/beast/core/detect_ssl.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <utility>  // before Asio, which forgets it

#include "http/connection.h"
#include "http/http_connection.h"
#include "http/tls_context.h"

namespace pingloom::http {
namespace {

using TlsStream = beast::ssl_stream<beast::tcp_stream>;

class TlsCarrier : public Carrier {
 public:
  explicit TlsCarrier(TlsStream stream) : stream_(std::move(stream)) {}

  beast::tcp_stream& tcp() override { return stream_.next_layer(); }
  void read(const BufferList<asio::mutable_buffer>& buffers, Completion done) override {
    stream_.async_read_some(buffers, kept(std::move(done)));
  }
  void write(const BufferList<asio::const_buffer>& buffers, Completion done) override {
    stream_.async_write_some(buffers, kept(std::move(done)));
  }
  void sayGoodbye(Completion done) override { stream_.async_shutdown(kept(std::move(done))); }
  void tearDown(beast::role_type, Completion done) override { sayGoodbye(std::move(done)); }

 private:
  TlsStream stream_;
};

constexpr auto kGreetingTimeout = std::chrono::seconds(10);

class Greeting : public std::enable_shared_from_this<Greeting> {
 public:
  Greeting(asio::ip::tcp::socket socket, std::shared_ptr<Service> service,
           std::unique_ptr<ConnectionSlot> slot, std::shared_ptr<TlsContext> context)
      : service_(std::move(service)),
        slot_(std::move(slot)),
        context_(std::move(context)),
        stream_(std::move(socket)) {}

  void start() {
    stream_.expires_after(kGreetingTimeout);
    beast::async_detect_ssl(stream_, buffer_,
                            [self = shared_from_this()](error_code error, bool tls) {
                              if (error) return self->failed();
                              tls ? self->shakeHands() : self->refusePlain();
                            });
  }

 private:
  void failed() { service_->options.counters->refuse(Refusal::kHandshake); }

  void refusePlain() {
    service_->options.counters->refuse(Refusal::kPlain);
    std::make_shared<HttpConnection>(ByteStream(plainCarrier(std::move(stream_))), service_,
                                     std::move(slot_))
        ->refuseAll(Refusal::kPlain, buffer_);
  }

  void shakeHands() {
    encrypted_.emplace(std::move(stream_), context_->context);
    encrypted_->async_handshake(asio::ssl::stream_base::server, buffer_.data(),
                                [self = shared_from_this()](error_code error, std::size_t) {
                                  if (error) return self->failed();
                                  self->serve();
                                });
  }

  void serve() {
    auto carrier = std::make_shared<TlsCarrier>(std::move(*encrypted_));
    std::make_shared<HttpConnection>(ByteStream(std::move(carrier)), service_, std::move(slot_))
        ->readNext();
  }

  std::shared_ptr<Service> service_;
  std::unique_ptr<ConnectionSlot> slot_;
  std::shared_ptr<TlsContext> context_;  // holds the certificate as of the connection's start
  beast::tcp_stream stream_;
  std::optional<TlsStream> encrypted_;
  beast::flat_buffer buffer_{16 * 1024};
};

}  // namespace

void serveEncrypted(asio::ip::tcp::socket socket, std::shared_ptr<Service> service,
                    std::unique_ptr<ConnectionSlot> slot, std::shared_ptr<TlsContext> context) {
  std::make_shared<Greeting>(std::move(socket), std::move(service), std::move(slot),
                             std::move(context))
      ->start();
}

}  // namespace pingloom::http
