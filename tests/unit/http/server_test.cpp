#include "http/server.h"

#include <gmock/gmock.h>

#include <chrono>
#include <new>
#include <stdexcept>
#include <thread>

#include "http/client.h"
#include "raw_client.h"
#include "unit/eventually.h"

namespace pingloom::http::server_test {
namespace {

using test::eventually;
using testing::HasSubstr;
using testing::Not;

// Each by a thread of its own, which takes a while.
class Slow {
 public:
  ~Slow() {
    for (std::thread& thread : threads_) thread.join();
  }
  Answer answer(const Request& request) {
    return Later([this, path = request.path](Respond respond) {
      threads_.emplace_back([path, respond = std::move(respond)] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        Response response;
        response.body = "later " + path;
        respond(std::move(response));
      });
    });
  }

 private:
  std::vector<std::thread> threads_;
};

Response echo(const Request& request) {
  if (request.path == "/throw") throw std::runtime_error("on purpose");
  Response response;
  response.content_type = "text/plain";
  response.body = request.method + " " + request.path;
  for (const auto& [name, value] : request.query) {
    response.body.append(" ").append(name).append("=").append(value);
  }
  if (!request.body.empty()) response.body += " body " + request.body;
  return response;
}

struct ServerTest : testing::Test {
  std::unique_ptr<Server> start(const ServerLimits& limits = {}) {
    ServerOptions options;
    options.listen = *SocketAddress::parse("127.0.0.1:0");
    options.limits = limits;
    counters = options.counters;
    auto server = Server::start(options, echo);
    EXPECT_TRUE(server) << server.error().text();
    return std::move(*server);
  }

  std::shared_ptr<const ServerCounters> counters;
};

TEST_F(ServerTest, AnswersAndKeepsTheConnection) {
  const auto server = start();
  RawClient client(server->address());
  EXPECT_EQ(client.get("/a?x=1").body, "GET /a x=1");
  EXPECT_EQ(client.get("/b").body, "GET /b");
  EXPECT_EQ(counters->connections_accepted, 1U);
  EXPECT_EQ(counters->requests, 2U);
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
  const auto server = start();
  RawClient client(server->address());
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  }
  client.send(requests);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.response().body, "GET /" + std::to_string(i));
}

TEST_F(ServerTest, WhatIsAnsweredLaterKeepsNobodyElseWaiting) {
  Slow slow;
  ServerOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  const auto server = Server::start(options, [&](const Request& request) -> Answer {
    if (request.path == "/slow") return slow.answer(request);
    return echo(request);
  });
  ASSERT_TRUE(server);
  RawClient patient((*server)->address());
  RawClient other((*server)->address());
  patient.send(
      "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(other.get("/quick").body, "GET /quick");
  EXPECT_EQ(patient.response().body, "later /slow");
  EXPECT_EQ(patient.response().body, "GET /next");
  {
    RawClient impatient((*server)->address());
    impatient.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  EXPECT_EQ(other.get("/slow").body, "later /slow");
}

// Makes `pieces` pieces of `bytes` bytes on another thread, and counts those that were asked for.
class Pieces : public BodyStream {
 public:
  Pieces(std::size_t pieces, std::size_t bytes, bool whole = true)
      : pieces_(pieces), bytes_(bytes), whole_(whole) {}
  ~Pieces() override {
    if (thread_.joinable()) thread_.join();
  }
  void next(Take take) override {
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([this, take = std::move(take)] {
      if (++asked > pieces_) return take(whole_ ? std::optional<std::string>("") : std::nullopt);
      take(std::string(bytes_, static_cast<char>('a' + asked - 1)));
    });
  }

  std::atomic<std::size_t> asked{0};

 private:
  const std::size_t pieces_;
  const std::size_t bytes_;
  const bool whole_;
  std::thread thread_;
};

struct ServerStreamTest : ServerTest {
  std::unique_ptr<Server> serve(std::shared_ptr<Pieces> pieces, const ServerLimits& limits = {}) {
    ServerOptions options;
    options.listen = *SocketAddress::parse("127.0.0.1:0");
    options.limits = limits;
    counters = options.counters;
    auto server = Server::start(options, [pieces](const Request& request) -> Answer {
      if (request.path != "/pieces") return echo(request);
      Response response;
      response.content_type = "text/csv";
      response.stream = pieces;
      return response;
    });
    EXPECT_TRUE(server) << server.error().text();
    return std::move(*server);
  }
};

TEST_F(ServerStreamTest, PiecesComeAsChunksAndTheConnectionStays) {
  const auto server = serve(std::make_shared<Pieces>(2, 20));
  RawClient client(server->address());
  client.send(
      "GET /pieces HTTP/1.1\r\nHost: localhost\r\n\r\nGET /b HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const RawResponse response = client.response();
  EXPECT_EQ(response.status, 200U);
  EXPECT_THAT(response.header, testing::HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(response.header, testing::HasSubstr("Content-Type: text/csv\r\n"));
  EXPECT_THAT(response.header, testing::HasSubstr("Cache-Control: no-store\r\n"));
  EXPECT_EQ(client.takeExactly(57), "14\r\n" + std::string(20, 'a') + "\r\n14\r\n" +
                                        std::string(20, 'b') + "\r\n0\r\n\r\n");
  EXPECT_EQ(client.response().body, "GET /b");
  // The server notices a little later that the last answer has left.
  EXPECT_TRUE(test::eventually([&] { return counters->unsent_bytes == 0; }));
}

TEST_F(ServerStreamTest, APeerOfHttp10GetsThemUntilTheEndOfTheConnection) {
  const auto server = serve(std::make_shared<Pieces>(2, 3));
  RawClient client(server->address());
  client.send("GET /pieces HTTP/1.0\r\n\r\n");
  EXPECT_THAT(client.response().header, testing::Not(testing::HasSubstr("chunked")));
  EXPECT_EQ(client.takeExactly(6), "aaabbb");
  EXPECT_TRUE(client.atEnd());
}

TEST_F(ServerStreamTest, HeadAsksForNone) {
  const auto pieces = std::make_shared<Pieces>(2, 3);
  const auto server = serve(pieces);
  RawClient client(server->address());
  client.send("HEAD /pieces HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.response(true).status, 200U);
  EXPECT_EQ(client.get("/b").body, "GET /b");
  EXPECT_EQ(pieces->asked, 0U);
}

TEST_F(ServerStreamTest, ABodyThatCannotBeFinishedEndsWithoutItsLastChunk) {
  const auto server = serve(std::make_shared<Pieces>(1, 3, false));
  RawClient client(server->address());
  client.send("GET /pieces HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.response();
  EXPECT_EQ(client.takeExactly(8), "3\r\naaa\r\n");
  EXPECT_TRUE(client.atEnd());
}

TEST_F(ServerStreamTest, APeerThatReadsNothingIsEndedAndHoldsOnePiece) {
  ServerLimits limits;
  limits.idle_timeout = 300 * kMillisecond;
  constexpr std::size_t kPiece = 1 << 20;
  const auto pieces = std::make_shared<Pieces>(1000, kPiece);
  const auto server = serve(pieces, limits);
  RawClient client(server->address());
  client.send("GET /pieces HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::uint64_t most = 0;
  while (counters->connections_accepted == 0 || counters->connections_open > 0) {
    most = std::max<std::uint64_t>(most, counters->unsent_bytes);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GE(most, kPiece);
  EXPECT_LT(most, 2 * kPiece);
  EXPECT_LT(pieces->asked, 100U) << "the kernel's buffers hold some";
  EXPECT_EQ(counters->unsent_bytes, 0U);
}

TEST_F(ServerTest, OneSourceWaitsForAFewAnswersAtATime) {
  ServerOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  options.limits.limit_loopback = true;
  options.limits.waiting_of_source = 2;
  counters = options.counters;
  std::vector<Respond> waiting;  // of the server's thread
  std::atomic<int> asked{0};
  const auto server = *Server::start(options, [&](const Request& request) -> Answer {
    if (request.path != "/slow") return echo(request);
    return Later([&](Respond respond) {
      waiting.push_back(std::move(respond));
      ++asked;
    });
  });
  const std::string slow = "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n";
  RawClient first(server->address());
  RawClient second(server->address());
  first.send(slow);
  second.send(slow);
  ASSERT_TRUE(eventually([&] { return asked == 2; }));
  RawClient third(server->address());
  EXPECT_EQ(third.get("/slow").status, 429U);
  EXPECT_EQ(counters->refused[static_cast<std::size_t>(Refusal::kRate)], 1U);
  EXPECT_EQ(third.get("/quick").status, 200U);
  const auto respond = [&] {
    for (const Respond& each : waiting) each(Response{});
    waiting.clear();
  };
  server->tasks().post(respond);
  EXPECT_EQ(first.response().status, 200U);
  EXPECT_EQ(second.response().status, 200U);
  third.send(slow);
  ASSERT_TRUE(eventually([&] { return asked == 3; }));
  server->tasks().post(respond);
  EXPECT_EQ(third.response().status, 200U);
}

TEST_F(ServerTest, EveryAnswerCarriesTheSecurityHeaders) {
  const auto server = start();
  for (const char* target : {"/a", "/throw", "/%zz"}) {
    RawClient client(server->address());
    const auto response = client.get(target);
    for (const char* header :
         {"Content-Security-Policy: default-src 'self'", "X-Content-Type-Options: nosniff",
          "Referrer-Policy: no-referrer", "X-Frame-Options: DENY", "Cache-Control: no-store"}) {
      EXPECT_THAT(response.header, HasSubstr(header)) << target;
    }
  }
}

TEST_F(ServerTest, HeadHasTheLengthButNoBody) {
  const auto server = start();
  RawClient client(server->address());
  client.send("HEAD /abc HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto response = client.response(true);
  EXPECT_EQ(response.status, 200U);
  EXPECT_THAT(response.header, HasSubstr("Content-Length: 8"));
  EXPECT_EQ(client.get("/next").body, "GET /next");
}

TEST_F(ServerTest, ARequestThatAProxyPassesOnIsToldApart) {
  ServerOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  const auto server = Server::start(options, [](const Request& request) {
    Response response;
    response.body = request.forwarded ? "forwarded" : "direct";
    return response;
  });
  ASSERT_TRUE(server);
  RawClient client((*server)->address());
  EXPECT_EQ(client.get("/").body, "direct");
  for (const char* header :
       {"Forwarded: for=192.0.2.1", "X-FORWARDED-FOR: 192.0.2.1", "Via: 1.1 p"}) {
    client.send(std::string("GET / HTTP/1.1\r\nHost: localhost\r\n") + header + "\r\n\r\n");
    EXPECT_EQ(client.response().body, "forwarded") << header;
  }
}

TEST_F(ServerTest, PostCarriesItsBody) {
  const auto server = start();
  RawClient client(server->address());
  client.send("POST /p HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(client.response().body, "POST /p body abc");
}

TEST_F(ServerTest, PostMayComeInChunks) {
  const auto server = start();
  RawClient client(server->address());
  client.send(
      "POST /p HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "3\r\nabc\r\n0\r\n\r\n");
  EXPECT_EQ(client.response().body, "POST /p body abc");
  EXPECT_EQ(client.get("/next").body, "GET /next");
}

TEST_F(ServerTest, OnlyItsOwnPagesMayPost) {
  const auto server = start();
  const auto post = [&](const std::string& headers) {
    RawClient client(server->address());
    client.send("POST /p HTTP/1.1\r\nHost: localhost:80\r\n" + headers +
                "Content-Length: 2\r\n\r\n{}");
    return client.response().status;
  };
  EXPECT_EQ(post(""), 200U) << "no browser";
  EXPECT_EQ(post("Origin: http://localhost:80\r\n"), 200U);
  EXPECT_EQ(post("Origin: http://evil.example\r\n"), 403U);
  EXPECT_EQ(post("Origin: null\r\n"), 403U);
  EXPECT_EQ(counters->requests_bad, 2U);
  EXPECT_EQ(counters->requests, 2U);
}

TEST_F(ServerTest, AThrowingHandlerIsA500AndTheServerLives) {
  const auto server = start();
  RawClient client(server->address());
  const auto response = client.get("/throw");
  EXPECT_EQ(response.status, 500U);
  EXPECT_THAT(response.body, Not(HasSubstr("on purpose")));
  EXPECT_EQ(client.get("/a").status, 200U);
}

TEST_F(ServerTest, AnExceptionOutsideAHandlerEndsNothing) {
  const auto server = start();
  RawClient before(server->address());
  EXPECT_EQ(before.get("/a").status, 200U);
  for (int i = 0; i < 3; ++i) server->tasks().post([] { throw std::bad_alloc(); });
  EXPECT_EQ(before.get("/b").status, 200U);
  RawClient after(server->address());
  EXPECT_EQ(after.get("/c").status, 200U);
}

struct BadRequest {
  std::string name;
  std::string bytes;
  unsigned status;
};

class BadRequests : public ServerTest, public testing::WithParamInterface<BadRequest> {};

TEST_P(BadRequests, AreAnsweredWithAReasonAndClosed) {
  const auto server = start();
  RawClient client(server->address());
  client.send(GetParam().bytes);
  const auto response = client.response();
  EXPECT_EQ(response.status, GetParam().status) << response.header;
  EXPECT_THAT(response.body, HasSubstr(R"({"error":{"reason":")"));
  EXPECT_TRUE(client.atEnd());
  EXPECT_EQ(counters->requests_bad, 1U);
  EXPECT_EQ(counters->requests, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadRequests,
    testing::Values(
        BadRequest{"garbage", "\x16\x03\x01\x02 TLS?\r\n\r\n", 400},
        BadRequest{"traversal", "GET /../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
        BadRequest{"percent", "GET /%2e%2e%2f HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
        BadRequest{"long_target",
                   "GET /" + std::string(5000, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414},
        BadRequest{"large_header",
                   "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(9000, 'a') + "\r\n\r\n",
                   431},
        BadRequest{"endless_header", "GET / HTTP/1.1\r\nX: " + std::string(9000, 'a'), 431},
        BadRequest{"large_body",
                   "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65537\r\n\r\n", 413},
        BadRequest{"two_lengths",
                   "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                   400},
        BadRequest{"unknown_coding",
                   "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n"
                   "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n",
                   400},
        BadRequest{"chunked_not_last",
                   "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, gzip\r\n\r\n"
                   "0\r\n\r\n",
                   400},
        BadRequest{"coding_and_length",
                   "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n"
                   "Content-Length: 3\r\n\r\nabc",
                   400},
        BadRequest{"two_hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
                   400},
        BadRequest{"foreign_host", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421},
        BadRequest{"websocket_elsewhere",
                   "GET /x HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                   "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                   404}),
    [](const auto& test) { return test.param.name; });

TEST_F(ServerTest, ConfiguredNamesMayBeUsed) {
  ServerOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  options.host_names = {"dash.example"};
  const auto server = Server::start(options, echo);
  RawClient client((*server)->address());
  client.send("GET /a HTTP/1.1\r\nHost: dash.example\r\n\r\n");
  EXPECT_EQ(client.response().status, 200U);
}

TEST_F(ServerTest, AnIncompleteRequestIsDroppedInTime) {
  ServerLimits limits;
  limits.idle_timeout = 50 * kMillisecond;
  const auto server = start(limits);
  RawClient client(server->address());
  client.send("GET / HTTP/1.1\r\nHo");
  EXPECT_TRUE(client.atEnd());
}

TEST_F(ServerTest, ConnectionsAboveTheLimitAreTold) {
  ServerLimits limits;
  limits.connections = 2;
  const auto server = start(limits);
  {
    RawClient first(server->address());
    RawClient second(server->address());
    EXPECT_EQ(first.get("/1").status, 200U);
    EXPECT_EQ(second.get("/2").status, 200U);
    RawClient third(server->address());
    const auto response = third.response();
    EXPECT_EQ(response.status, 503U);
    EXPECT_EQ(response.body, R"({"error":{"reason":"too many open connections"}})");
    EXPECT_EQ(counters->connections_refused, 1U);
  }
  // The places are free again once the server has seen the ends of their connections.
  ASSERT_TRUE(eventually([&] { return counters->connections_open == 0; }));
  RawClient fourth(server->address());
  EXPECT_EQ(fourth.get("/4").status, 200U);
}

TEST_F(ServerTest, AnswersThatNobodyTakesAreBounded) {
  ServerOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  options.limits.unsent_bytes = 50'000'000;
  counters = options.counters;
  const auto server = *Server::start(options, [](const Request& request) {
    Response response;
    response.body.assign(request.path == "/small" ? 64 * 1024 : 20'000'000, 'x');
    return response;
  });
  const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  {
    RawClient first(server->address());
    RawClient second(server->address());
    first.send(request);
    second.send(request);
    ASSERT_TRUE(eventually([&] { return counters->unsent_bytes == 40'000'000; }));
    RawClient third(server->address());
    EXPECT_EQ(third.get("/").status, 503U);
    EXPECT_EQ(counters->refused[static_cast<std::size_t>(Refusal::kBusy)], 1U);
    EXPECT_EQ(third.get("/small").status, 200U);
    EXPECT_EQ(first.response().body.size(), 20'000'000U);
    EXPECT_EQ(third.get("/").status, 200U);
  }
  ASSERT_TRUE(eventually([&] { return counters->unsent_bytes == 0; }));
}

TEST_F(ServerTest, NoHandlerWorksWhileTooMuchIsUnsent) {
  ServerOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  options.limits.unsent_bytes = 50'000'000;
  options.needs = [](const Request& request) {
    return request.path == "/alive" ? Role::kNone : Role::kRead;
  };
  counters = options.counters;
  std::atomic<int> handled{0};
  const auto server = *Server::start(options, [&](const Request& request) {
    ++handled;
    Response response;
    response.body.assign(request.path == "/large" ? 60'000'000 : 10, 'x');
    return response;
  });
  RawClient first(server->address());
  first.send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return counters->unsent_bytes == 60'000'000; }));
  RawClient second(server->address());
  const auto refused = second.get("/any");
  EXPECT_EQ(refused.status, 503U);
  EXPECT_THAT(refused.header, HasSubstr("Retry-After"));
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(counters->refused[static_cast<std::size_t>(Refusal::kBusy)], 1U);
  EXPECT_EQ(second.get("/alive").status, 200U);
  EXPECT_EQ(first.response().body.size(), 60'000'000U);
  ASSERT_TRUE(eventually([&] { return counters->unsent_bytes == 0; }));
  EXPECT_EQ(second.get("/any").status, 200U);
}

TEST_F(ServerTest, AnAddressInUseIsAnErrorThatNamesIt) {
  const auto server = start();
  ServerOptions options;
  options.listen = server->address();
  const auto second = Server::start(options, echo);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text(), HasSubstr(server->address().text()));
}

TEST_F(ServerTest, TasksRunOnTheServersThreadAndNotAfterItsEnd) {
  auto server = start();
  const TaskQueue tasks = server->tasks();
  std::atomic<int> ran{0};
  tasks.post([&ran] { ++ran; });
  tasks.postAfter(kMillisecond, [&ran] { ++ran; });
  ASSERT_TRUE(eventually([&] { return ran == 2; }));
  server.reset();
  tasks.post([&ran] { ++ran; });
  tasks.postAfter(0, [&ran] { ++ran; });
  EXPECT_EQ(ran, 2);
}

TEST_F(ServerTest, ClientGets) {
  const auto server = start();
  const std::string base = "http://" + server->address().text();
  const auto response = get(base, "/a?b=c", kPatience);
  ASSERT_TRUE(response) << response.error().text();
  EXPECT_EQ(response->status, 200U);
  EXPECT_EQ(response->body, "GET /a b=c");
  EXPECT_EQ(response->content_type, "text/plain");
  EXPECT_EQ(get(base + "/prefix/", "/a", kPatience)->body, "GET /prefix/a");
  EXPECT_EQ(get(base, "/throw", kPatience)->status, 500U);
}

TEST_F(ServerTest, ClientPostsAndDeletes) {
  const auto server = start();
  const Site site{"http://" + server->address().text(), "", {}};
  const auto posted = send(site, {"POST", "/a", R"({"b":1})"}, kPatience);
  ASSERT_TRUE(posted) << posted.error().text();
  EXPECT_EQ(posted->body, R"(POST /a body {"b":1})");
  EXPECT_EQ(send(site, {"DELETE", "/a"}, kPatience)->body, "DELETE /a");
}

}  // namespace
}  // namespace pingloom::http::server_test
