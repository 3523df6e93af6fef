// The bytes of a connection, plain or encrypted, behind one type, so that the compiler instantiates
// Beast's HTTP and WebSocket templates only once. Internal to src/http. The HTTP thread.
#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <memory>
#include <type_traits>
#include <utility>  // before Asio, which forgets it

#include "http/beast_names.h"

namespace pingloom::http {

// A handler, called once with the result of an operation and the number of bytes. It is move-only,
// as Beast's handlers are.
class Completion {
 public:
  template <typename Handler>
  explicit Completion(Handler handler)
      : held_(std::make_unique<Held<Handler>>(std::move(handler))) {}

  void operator()(error_code error, std::size_t bytes = 0) { held_->call(error, bytes); }

 private:
  struct Callable {
    virtual ~Callable() = default;
    virtual void call(error_code error, std::size_t bytes) = 0;
  };
  template <typename Handler>
  struct Held final : Callable {
    explicit Held(Handler given) : handler(std::move(given)) {}
    void call(error_code error, std::size_t bytes) override {
      if constexpr (std::is_invocable_v<Handler&, error_code, std::size_t>) {
        handler(error, bytes);
      } else {
        handler(error);
      }
    }
    Handler handler;
  };
  std::unique_ptr<Callable> held_;
};

// The first buffers of any sequence, as many as one system call takes. Partial reads and writes may
// leave out the others.
template <typename Buffer>
class BufferList {
 public:
  template <typename Sequence>
  static BufferList of(const Sequence& sequence) {
    BufferList list;
    const auto end = asio::buffer_sequence_end(sequence);
    for (auto next = asio::buffer_sequence_begin(sequence); next != end; ++next) {
      const Buffer buffer(*next);
      if (buffer.size() == 0) continue;
      list.buffers_[list.count_++] = buffer;
      if (list.count_ == list.buffers_.size()) break;
    }
    return list;
  }

  const Buffer* begin() const { return buffers_.data(); }
  const Buffer* end() const { return buffers_.data() + count_; }

 private:
  std::array<Buffer, 64> buffers_{};
  std::size_t count_ = 0;
};

// The transport of the bytes. It lives until its last operation has ended, because Beast's
// WebSocket releases a stream while a ping is still being written to a peer that reads nothing.
class Carrier : public std::enable_shared_from_this<Carrier> {
 public:
  virtual ~Carrier() = default;
  virtual beast::tcp_stream& tcp() = 0;
  virtual void read(const BufferList<asio::mutable_buffer>& buffers, Completion done) = 0;
  virtual void write(const BufferList<asio::const_buffer>& buffers, Completion done) = 0;
  // Exchanges TLS's closure alerts with the peer; does nothing on a plain connection.
  virtual void sayGoodbye(Completion done) = 0;
  // Ends the connection in the way that a WebSocket requires.
  virtual void tearDown(beast::role_type role, Completion done) = 0;

 protected:
  // Wraps `done` so that this object lives until it is called.
  auto kept(Completion done) {
    return [self = shared_from_this(), done = std::move(done)](
               error_code error, std::size_t bytes = 0) mutable { done(error, bytes); };
  }
};

std::shared_ptr<Carrier> plainCarrier(beast::tcp_stream stream);

// An AsyncStream of Asio and Beast, with the TCP stream as its lowest layer.
class ByteStream {
 public:
  using executor_type = asio::any_io_executor;

  explicit ByteStream(std::shared_ptr<Carrier> carrier) : carrier_(std::move(carrier)) {}
  ~ByteStream() {
    if (carrier_ != nullptr) carrier_->tcp().close();  // ends operations in flight
  }
  ByteStream(ByteStream&&) = default;
  ByteStream& operator=(ByteStream&&) = delete;

  // NOLINTBEGIN(readability-identifier-naming): Beast's names
  executor_type get_executor() { return carrier_->tcp().get_executor(); }
  beast::tcp_stream& next_layer() { return carrier_->tcp(); }
  const beast::tcp_stream& next_layer() const { return carrier_->tcp(); }

  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    carrier_->read(BufferList<asio::mutable_buffer>::of(buffers),
                   Completion(std::forward<Handler>(handler)));
  }
  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    carrier_->write(BufferList<asio::const_buffer>::of(buffers),
                    Completion(std::forward<Handler>(handler)));
  }

  // beast::websocket finds this by argument-dependent lookup.
  template <typename Handler>
  friend void async_teardown(beast::role_type role, ByteStream& stream, Handler&& handler) {
    stream.carrier_->tearDown(role, Completion(std::forward<Handler>(handler)));
  }
  // NOLINTEND(readability-identifier-naming)

  void sayGoodbye(Completion done) { carrier_->sayGoodbye(std::move(done)); }

 private:
  std::shared_ptr<Carrier> carrier_;
};

}  // namespace pingloom::http
