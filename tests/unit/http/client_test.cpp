#include "http/client.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

#include "common/address.h"
#include "common/fd.h"
#include "http/client_socket.h"
#include "raw_client.h"

namespace pingloom::http::client_test {
namespace {

using testing::HasSubstr;

// A server that says what it was told to, once.
class Canned {
 public:
  explicit Canned(std::string answer) {
    listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
    ::listen(listener_.get(), 4);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    url_ = "http://" + SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&address)).text();
    thread_ = std::thread([this, answer = std::move(answer)] {
      const UniqueFd peer(::accept(listener_.get(), nullptr, nullptr));
      char request[4096];
      ::recv(peer.get(), request, sizeof request, 0);
      ::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    });
  }
  ~Canned() { thread_.join(); }
  Result<ClientResponse> get() { return http::get(url_, "/", kPatience); }

 private:
  UniqueFd listener_;
  std::string url_;
  std::thread thread_;
};

TEST(Client, BodyByLengthAndUntilTheEnd) {
  EXPECT_EQ(Canned("HTTP/1.1 200 OK\r\ncontent-LENGTH: 2\r\n\r\nabc").get()->body, "ab");
  EXPECT_EQ(Canned("HTTP/1.0 404 No\r\n\r\nabc").get()->body, "abc");
  EXPECT_EQ(Canned("HTTP/1.0 204 None\r\nContent-Length: 0\r\n\r\n").get()->status, 204U);
}

TEST(Client, WhatIsNoAnswerIsAnError) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", "without an answer"},
      {"SSH-2.0-OpenSSH_9.2\r\n", "not HTTP"},
      {"HTTP/1.1 OK\r\n\r\n", "not HTTP"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "before the end of its answer"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "larger"},
      {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "larger"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "chunked"},
      {"HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'a'), "not HTTP"},
  };
  for (const auto& [answer, reason] : table) {
    const auto result = Canned(answer).get();
    ASSERT_FALSE(result) << answer.substr(0, 60);
    EXPECT_THAT(result.error().reason, HasSubstr(reason)) << answer.substr(0, 60);
  }
}

TEST(Client, UrlsThatAreNot) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"ftp://a", "must begin with http:// or https://"},
      {"127.0.0.1:8080", "must begin with http://"},
      {"http://", "names no host"},
      {"http://a:b", "port"},
      {"http://a:70000", "port"},
      {"http://[::1", "']'"},
      {"http://[::1]x", "port"},
      {"http://a b", "space"},
  };
  for (const auto& [url, reason] : table) {
    const auto result = get(url, "/", kSecond);
    ASSERT_FALSE(result) << url;
    EXPECT_THAT(result.error().text(), HasSubstr(reason)) << url;
  }
}

TEST(Client, NobodyListens) {
  const auto result = get("http://127.0.0.1:1", "/x", kPatience);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("http://127.0.0.1:1/x: cannot connect"));
}

TEST(Client, EachAddressOfAHostHasItsPartOfTheTime) {
  EXPECT_EQ(deadlineOfNext(1, kSecond, 7 * kSecond), 7 * kSecond);
  EXPECT_EQ(deadlineOfNext(3, kSecond, 7 * kSecond), 3 * kSecond);
  EXPECT_EQ(deadlineOfNext(2, 3 * kSecond, 7 * kSecond), 5 * kSecond);
  EXPECT_EQ(deadlineOfNext(2, kSecond, 7 * kSecond), 4 * kSecond) << "what one left is the others'";
  EXPECT_EQ(deadlineOfNext(2, 8 * kSecond, 7 * kSecond), 7 * kSecond);
}

TEST(Client, ASilentServerTimesOut) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length);
  const auto url =
      "http://" + SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&address)).text();
  const auto result = get(url, "/", 50 * kMillisecond);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().reason, HasSubstr("timed out"));
}

}  // namespace
}  // namespace pingloom::http::client_test
