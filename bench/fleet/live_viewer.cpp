#include "live_viewer.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <cstring>
#include <iostream>
#include <utility>

#include "controller/http/live_frames.h"
#include "fleet_agent.h"

namespace pingloom::bench {
namespace {

template <typename Number>
Number numberAt(const std::string& bytes, std::size_t at) {
  Number made{};
  std::memcpy(&made, bytes.data() + at, sizeof made);
  return made;
}

}  // namespace

LiveViewer::LiveViewer(std::string url, std::size_t destinations)
    : url_(std::move(url)), destinations_(destinations), thread_([this] { run(); }) {}

LiveViewer::~LiveViewer() {
  ending_ = true;
  if (const int socket = socket_; socket >= 0) ::shutdown(socket, SHUT_RDWR);
  thread_.join();
}

void LiveViewer::expectLoss(std::uint32_t source) {
  expected_ = -1;
  seen_mono_ = 0;
  expected_ = source;
}

void LiveViewer::run() {
  namespace beast = boost::beast;
  namespace asio = boost::asio;
  const std::string place = url_.substr(url_.find("//") + 2);
  const auto colon = place.rfind(':');
  try {
    asio::io_context context;
    beast::websocket::stream<asio::ip::tcp::socket> stream(context);
    asio::ip::tcp::resolver resolver(context);
    asio::connect(stream.next_layer(),
                  resolver.resolve(place.substr(0, colon), place.substr(colon + 1)));
    socket_ = stream.next_layer().native_handle();
    stream.read_message_max(0);
    stream.handshake(place, "/api/v1/live");
    beast::flat_buffer buffer;
    while (!ending_) {
      stream.read(buffer);
      if (stream.got_text()) {
        // The first one is the plan. To watch again after it does no harm.
        if (beast::buffers_to_string(buffer.cdata()).find("\"type\":\"plan\"") !=
            std::string::npos) {
          in_sync_ = false;
          stream.text(true);
          stream.write(asio::buffer(fmt::format("watch {} network_p50", kProbeName)));
        }
      } else {
        take(beast::buffers_to_string(buffer.cdata()));
      }
      buffer.clear();
    }
    socket_ = -1;
  } catch (const boost::system::system_error& error) {
    socket_ = -1;
    if (!ending_) std::cerr << "viewer of " << url_ << ": " << error.what() << "\n";
  }
}

// docs/http-api.md has the layout.
void LiveViewer::take(const std::string& frame) {
  using controller::kLiveHeaderBytes;
  using controller::kLiveRowBytes;
  if (frame.size() < kLiveHeaderBytes) return;
  if (frame[1] == controller::kLiveSync) {
    in_sync_ = true;
    return;
  }
  const std::int64_t expected = expected_;
  if (expected < 0) return;
  const std::size_t row = kLiveRowBytes + controller::kLiveBytesPerCell * destinations_;
  for (std::size_t at = kLiveHeaderBytes; at + row <= frame.size(); at += row) {
    const auto source = numberAt<std::uint32_t>(frame, at + 8);
    const bool ok = (numberAt<std::uint8_t>(frame, at + kLiveRowBytes) & 15U) == 0;
    if (source != expected || ok) continue;
    Nanos never = 0;
    seen_mono_.compare_exchange_strong(never, monotonicNow());
  }
}

}  // namespace pingloom::bench
