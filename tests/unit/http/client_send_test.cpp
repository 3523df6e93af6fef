// What the client sends with a body, and what it makes of answers in chunks, of endless ones and of
// none.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>

#include "common/address.h"
#include "common/fd.h"
#include "http/client.h"
#include "raw_client.h"

namespace pingloom::http::client_send_test {
namespace {

using testing::HasSubstr;

// A server that answers one request with given bytes, again and again if it should never end.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer, bool endless = false) {
    listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
    ::listen(listener_.get(), 4);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    site.url =
        "http://" + SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&address)).text();
    thread_ = std::thread([this, answer = std::move(answer), endless] {
      const UniqueFd peer(::accept(listener_.get(), nullptr, nullptr));
      char bytes[65536];
      const ssize_t got = ::recv(peer.get(), bytes, sizeof bytes, 0);
      if (got > 0) received_.assign(bytes, static_cast<std::size_t>(got));
      while (::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL) > 0 && endless) {
      }
    });
  }
  ~OneAnswer() {
    if (thread_.joinable()) thread_.join();
  }
  std::string received() {
    thread_.join();
    return received_;
  }

  Site site;

 private:
  UniqueFd listener_;
  std::string received_;
  std::thread thread_;
};

ClientRequest posted() {
  ClientRequest request;
  request.path_and_query = "/hook?a=b";
  request.body = "{}";
  request.headers = {{"Idempotency-Key", "17-1"}};
  return request;
}

TEST(ClientSend, SendsTheBodyTheTokenAndTheHeaders) {
  OneAnswer server("HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok");
  server.site.token = "secret";
  const auto answer = send(server.site, posted(), kPatience);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->status, 202U);
  EXPECT_EQ(answer->body, "ok");
  const std::string request = server.received();
  EXPECT_THAT(request, testing::StartsWith("POST /hook?a=b HTTP/1.1\r\n"));
  for (const char* part :
       {"Authorization: Bearer secret\r\n", "Content-Type: application/json\r\n",
        "Content-Length: 2\r\n", "Connection: close\r\n", "Idempotency-Key: 17-1\r\n"}) {
    EXPECT_THAT(request, HasSubstr(part));
  }
  EXPECT_THAT(request, testing::EndsWith("\r\n\r\n{}"));
}

TEST(ClientSend, ReadsHowLongToWait) {
  const auto wait = [](const std::string& value) {
    const OneAnswer server("HTTP/1.1 429 Later\r\nretry-after: " + value +
                           "\r\nContent-Length: 0\r\n\r\n");
    return send(server.site, posted(), kPatience)->retry_after;
  };
  EXPECT_EQ(wait("120"), 2 * kMinute);
  EXPECT_EQ(wait("Fri, 31 Dec 1999 23:59:59 GMT"), 0);
  EXPECT_EQ(wait("-1"), 0);
  EXPECT_EQ(wait("86401"), 24 * kHour);
  EXPECT_EQ(wait("99999999999999999999"), 24 * kHour);
}

TEST(ClientSend, ReadsChunksAndCutsLongAnswers) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(
      send(OneAnswer(chunked + "3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n").site, posted(), kPatience)
          ->body,
      "abcd");
  EXPECT_EQ(send(OneAnswer("HTTP/1.1 200 OK\r\n\r\nuntil the end").site, posted(), kPatience)->body,
            "until the end");
  auto few = posted();
  few.most_answer = 4;
  EXPECT_EQ(send(OneAnswer("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nabcdefgh").site,
                 few, kPatience)
                ->body,
            "abcd");
  const OneAnswer endless("HTTP/1.1 200 OK\r\n\r\n" + std::string(65'536, 'x'), true);
  EXPECT_EQ(send(endless.site, posted(), kPatience)->body.size(), 64U * 1024);
  const OneAnswer endless_chunk(chunked + "fffffff\r\n" + std::string(65'536, 'x'), true);
  EXPECT_EQ(send(endless_chunk.site, posted(), kPatience)->status, 200U);
}

TEST(ClientSend, WhatIsNoAnswerIsAnErrorWithoutTheUrl) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", "without an answer"},
      {"220 mail.example ESMTP\r\n", "not HTTP"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx", "not HTTP"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "not HTTP"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "before the end"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", "before the end"},
  };
  for (const auto& [bytes, reason] : table) {
    const OneAnswer server(bytes);
    auto request = posted();
    request.entity = "the hook";
    const auto answer = send(server.site, request, kPatience);
    ASSERT_FALSE(answer) << bytes;
    EXPECT_EQ(answer.error().entity, "the hook");
    EXPECT_THAT(answer.error().reason, HasSubstr(reason)) << bytes;
  }
}

TEST(ClientSend, ARequestEndsOnceItIsCancelled) {
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
  std::atomic<bool> cancelled{true};
  auto request = posted();
  request.cancelled = &cancelled;
  const Nanos before_mono = monotonicNow();
  EXPECT_FALSE(send(server.site, request, kPatience));
  EXPECT_LT(monotonicNow() - before_mono, kPatience / 2);
}

TEST(ClientSend, NamesAreResolvedWithinTheTime) {
  std::atomic<bool> cancelled{false};
  auto request = posted();
  request.cancelled = &cancelled;
  const Nanos before_mono = monotonicNow();
  const auto answer = send({"http://nowhere.invalid:1", "", {}}, request, kSecond);
  EXPECT_LT(monotonicNow() - before_mono, 5 * kSecond);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().reason, HasSubstr("cannot resolve"));
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  server.site.url.replace(7, 9, "localhost");
  EXPECT_EQ(send(server.site, request, kPatience)->status, 200U);
}

TEST(ClientSend, NothingEndsTheHeadEarly) {
  auto request = posted();
  request.headers = {{"X", "a\r\nY: b"}};
  EXPECT_THAT(send({"http://127.0.0.1:1", "", {}}, request, kSecond).error().reason,
              HasSubstr("malformed header"));
  request = posted();
  request.path_and_query = "/a b";
  EXPECT_THAT(send({"http://127.0.0.1:1", "", {}}, request, kSecond).error().reason,
              HasSubstr("space"));
}

}  // namespace
}  // namespace pingloom::http::client_send_test
