#include "http/byte_stream.h"

#include <boost/beast/core/basic_stream.hpp>

namespace pingloom::http {
namespace {

class PlainCarrier : public Carrier {
 public:
  explicit PlainCarrier(beast::tcp_stream stream) : stream_(std::move(stream)) {}

  beast::tcp_stream& tcp() override { return stream_; }
  void read(const BufferList<asio::mutable_buffer>& buffers, Completion done) override {
    stream_.async_read_some(buffers, kept(std::move(done)));
  }
  void write(const BufferList<asio::const_buffer>& buffers, Completion done) override {
    stream_.async_write_some(buffers, kept(std::move(done)));
  }
  void sayGoodbye(Completion done) override { done({}); }
  void tearDown(beast::role_type role, Completion done) override {
    async_teardown(role, stream_, kept(std::move(done)));
  }

 private:
  beast::tcp_stream stream_;
};

}  // namespace

std::shared_ptr<Carrier> plainCarrier(beast::tcp_stream stream) {
  return std::make_shared<PlainCarrier>(std::move(stream));
}

}  // namespace pingloom::http
