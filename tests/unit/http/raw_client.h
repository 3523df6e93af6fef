// A peer that sends exactly the bytes a test gives it, and the client's side of a WebSocket. Every
// wait ends after kPatience with a failure.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "common/address.h"
#include "common/fd.h"
#include "common/time.h"

namespace pingloom::http {

constexpr Nanos kPatience = 60 * kSecond;  // for what is certain to come, on a busy machine too

struct RawResponse {
  unsigned status = 0;
  std::string header;  // with the status line
  std::string body;
};

struct RawFrame {
  int opcode = -1;  // 1 text, 2 binary, 8 close; -1: the connection ended
  std::string payload;
};

class RawClient {
 public:
  explicit RawClient(const SocketAddress& address) {
    sockaddr_storage storage{};
    const socklen_t length = address.address.toSockaddr(address.port, storage);
    socket_ = UniqueFd(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval patience{kPatience / kSecond, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&storage), length), 0);
  }

  int descriptor() const { return socket_.get(); }
  void send(std::string_view bytes) {
    ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  bool atEnd() { return waiting_.empty() && !receiveMore(); }

  RawResponse response(bool head = false) {
    RawResponse response;
    std::size_t end = 0;
    while ((end = waiting_.find("\r\n\r\n")) == std::string::npos) {
      if (!receiveMore()) return response;
    }
    response.header = take(end + 4);
    response.status = static_cast<unsigned>(std::stoul(response.header.substr(9, 3)));
    const std::size_t length = response.header.find("Content-Length: ");
    if (head || length == std::string::npos) return response;
    response.body = takeExactly(std::stoul(response.header.substr(length + 16)));
    return response;
  }

  RawResponse get(const std::string& target) {
    send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return response();
  }

  static std::string upgradeOf(const std::string& target, const std::string& more_headers = "") {
    return "GET " + target +
           " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
           more_headers + "\r\n";
  }

  // The answer to the upgrade; 101 when it is open.
  RawResponse openWebSocket(const std::string& target, const std::string& more_headers = "") {
    send(upgradeOf(target, more_headers));
    return response();
  }

  void sendText(std::string_view payload) {  // masked with zeros
    std::string frame = "\x81";
    if (payload.size() < 126) {
      frame += static_cast<char>(0x80U | payload.size());
    } else {
      frame += static_cast<char>(0xFE);
      frame += static_cast<char>(payload.size() >> 8U);
      frame += static_cast<char>(payload.size() & 0xFFU);
    }
    frame.append(4, '\0');
    frame += payload;
    send(frame);
  }

  void sendPing() { send(std::string_view("\x89\x80\0\0\0\0", 6)); }
  void sendPong() { send(std::string_view("\x8a\x80\0\0\0\0", 6)); }
  void sendClose() { send(std::string_view("\x88\x80\0\0\0\0", 6)); }

  RawFrame frame() {
    const std::string start = takeExactly(2);
    if (start.size() < 2) return {};
    RawFrame frame;
    frame.opcode = start[0] & 0x0F;
    std::size_t length = static_cast<unsigned char>(start[1]) & 0x7FU;
    if (length >= 126) {
      const std::string extended = takeExactly(length == 126 ? 2 : 8);
      length = 0;
      for (const char c : extended) length = length << 8U | static_cast<unsigned char>(c);
    }
    frame.payload = takeExactly(length);
    return frame;
  }

  std::string takeExactly(std::size_t length) {
    while (waiting_.size() < length) {
      if (!receiveMore()) return take(waiting_.size());
    }
    return take(length);
  }

 private:
  bool receiveMore() {
    char piece[65536];
    const ssize_t got = ::recv(socket_.get(), piece, sizeof piece, 0);
    EXPECT_FALSE(got < 0 && errno == EAGAIN) << "nothing came for ten seconds";
    if (got > 0) waiting_.append(piece, static_cast<std::size_t>(got));
    return got > 0;
  }
  std::string take(std::size_t length) {
    std::string taken = waiting_.substr(0, length);
    waiting_.erase(0, length);
    return taken;
  }

  UniqueFd socket_;
  std::string waiting_;
};

}  // namespace pingloom::http
