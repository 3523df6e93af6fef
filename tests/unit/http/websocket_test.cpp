#include <gmock/gmock.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "http/server.h"
#include "raw_client.h"
#include "unit/eventually.h"

namespace pingloom::http::websocket_test {
namespace {

using testing::HasSubstr;

// One value that changes; every viewer is told the newest. Lives on the HTTP thread, but for the
// counters.
class NumberEndpoint : public WebSocketEndpoint {
 public:
  struct Session : WebSocketSession {
    Session(NumberEndpoint& owner, std::function<void()> wake_function)
        : endpoint(owner), wake(std::move(wake_function)) {
      endpoint.sessions.push_back(this);
      ++endpoint.opened;
    }
    ~Session() override {
      std::erase(endpoint.sessions, this);
      ++endpoint.closed;
    }
    std::optional<Frame> next() override {
      if (told == endpoint.value) return std::nullopt;
      if (endpoint.value < 0) throw std::runtime_error("on purpose");
      told = endpoint.value;
      ++endpoint.frames;
      std::string text = std::to_string(told) + " ";
      text.append(endpoint.padding, '.');
      return Frame{false, std::move(text)};
    }
    bool received(std::string_view message) override {
      endpoint.heard = static_cast<int>(message.size());
      return message != "bye";
    }
    bool inUse() const override { return endpoint.in_use; }
    NumberEndpoint& endpoint;
    std::function<void()> wake;
    int told = 0;
  };

  std::unique_ptr<WebSocketSession> open(std::function<void()> wake) override {
    return std::make_unique<Session>(*this, std::move(wake));
  }
  void set(int to) {
    value = to;
    for (Session* session : sessions) session->wake();
  }

  int value = 1;
  std::size_t padding = 0;
  std::atomic<bool> in_use{true};
  std::vector<Session*> sessions;
  std::atomic<int> opened{0};
  std::atomic<int> closed{0};
  std::atomic<int> frames{0};
  std::atomic<int> heard{0};
};

struct WebSocketTest : testing::Test {
  void SetUp() override { start({}); }
  void start(const ServerLimits& limits) {
    ServerOptions options;
    options.listen = *SocketAddress::parse("127.0.0.1:0");
    options.limits = limits;
    counters = options.counters;
    auto started =
        Server::start(options, [](const Request&) { return Response{}; }, {{"/live", endpoint}});
    ASSERT_TRUE(started) << started.error().text();
    server = std::move(*started);
  }
  void set(int value) {
    server->tasks().post([this, value] { endpoint->set(value); });
  }
  static void until(const std::atomic<int>& counter, int value) {
    ASSERT_TRUE(test::eventually([&] { return counter == value; }));
  }

  std::shared_ptr<NumberEndpoint> endpoint = std::make_shared<NumberEndpoint>();
  std::unique_ptr<Server> server;
  std::shared_ptr<const ServerCounters> counters;
};

TEST_F(WebSocketTest, FramesFollowTheValue) {
  RawClient client(server->address());
  const auto answer = client.openWebSocket("/live");
  ASSERT_EQ(answer.status, 101U) << answer.header;
  EXPECT_THAT(answer.header, HasSubstr("Content-Security-Policy"));
  EXPECT_EQ(client.frame().payload, "1 ");
  set(2);
  EXPECT_EQ(client.frame().payload, "2 ");
  client.sendText("hello");
  until(endpoint->heard, 5);
  EXPECT_EQ(counters->websockets_open, 1U);
}

TEST_F(WebSocketTest, ASlowViewerIsSkippedAhead) {
  endpoint->padding = 1'000'000;
  RawClient client(server->address());
  ASSERT_EQ(client.openWebSocket("/live").status, 101U);
  until(endpoint->opened, 1);
  // Far more than the sockets' buffers hold, while the client reads nothing.
  for (int value = 2; value <= 200; ++value) {
    std::atomic<int> done{0};
    server->tasks().post([&] {
      endpoint->set(value);
      done = 1;
    });
    until(done, 1);
  }
  int last = 0;
  int frames = 0;
  while (last != 200) {
    const auto frame = client.frame();
    ASSERT_EQ(frame.opcode, 1);
    const int value = std::stoi(frame.payload);
    ASSERT_GT(value, last);
    last = value;
    ++frames;
  }
  EXPECT_LT(frames, 100);
  EXPECT_EQ(frames, endpoint->frames);
}

TEST_F(WebSocketTest, ForeignPagesMayNotOpenOne) {
  RawClient foreign(server->address());
  EXPECT_EQ(foreign.openWebSocket("/live", "Origin: http://evil.example\r\n").status, 403U);
  EXPECT_TRUE(foreign.atEnd());
  RawClient own(server->address());
  EXPECT_EQ(own.openWebSocket("/live", "Origin: http://localhost\r\n").status, 101U);
}

TEST_F(WebSocketTest, TooLargeAMessageEndsIt) {
  RawClient client(server->address());
  ASSERT_EQ(client.openWebSocket("/live").status, 101U);
  client.frame();
  client.sendText(std::string(5000, 'x'));
  until(endpoint->closed, 1);
}

TEST_F(WebSocketTest, ASessionThatRefusesAMessageEndsIt) {
  {
    RawClient client(server->address());
    ASSERT_EQ(client.openWebSocket("/live").status, 101U);
    client.frame();
    client.sendText("bye");
    EXPECT_EQ(client.frame().opcode, 8);
    client.sendClose();
  }
  until(endpoint->closed, 1);
}

TEST_F(WebSocketTest, AFrameThatCannotBeMadeEndsIt) {
  RawClient client(server->address());
  ASSERT_EQ(client.openWebSocket("/live").status, 101U);
  client.frame();
  set(-1);
  EXPECT_EQ(client.frame().opcode, -1);
  until(endpoint->closed, 1);
  set(2);
  RawClient other(server->address());
  ASSERT_EQ(other.openWebSocket("/live").status, 101U);
  EXPECT_EQ(other.frame().payload, "2 ");
}

TEST_F(WebSocketTest, AViewerThatGoesAwayIsForgotten) {
  {
    RawClient client(server->address());
    ASSERT_EQ(client.openWebSocket("/live").status, 101U);
    client.frame();
  }
  until(endpoint->closed, 1);
  ASSERT_TRUE(test::eventually([&] { return counters->connections_open == 0; }));
  EXPECT_EQ(counters->websockets_open, 0U);
}

TEST_F(WebSocketTest, ASilentPeerIsDropped) {
  ServerLimits limits;
  limits.idle_timeout = 100 * kMillisecond;
  start(limits);
  RawClient client(server->address());  // never answers a ping
  ASSERT_EQ(client.openWebSocket("/live").status, 101U);
  until(endpoint->closed, 1);
}

TEST_F(WebSocketTest, OneThatIsOfNoUseIsClosedAlthoughItAnswersPings) {
  ServerLimits limits;
  limits.idle_timeout = 200 * kMillisecond;
  start(limits);
  RawClient client(server->address());
  ASSERT_EQ(client.openWebSocket("/live").status, 101U);
  client.frame();
  const auto pongs = [&](int count) {
    for (int i = 0; i < count && endpoint->closed == 0; ++i) {
      client.sendPong();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  };
  pongs(30);
  EXPECT_EQ(endpoint->closed, 0);
  endpoint->in_use = false;
  pongs(100);
  EXPECT_EQ(endpoint->closed, 1);
  EXPECT_EQ(counters->refused[static_cast<std::size_t>(Refusal::kUnused)], 1U);
}

TEST_F(WebSocketTest, APeerThatNeverReadsIsDroppedAlthoughItAnswersPings) {
  ServerLimits limits;
  limits.idle_timeout = 200 * kMillisecond;
  endpoint->padding = 50'000'000;  // far more than the sockets' buffers hold
  start(limits);
  RawClient client(server->address());
  client.send(RawClient::upgradeOf("/live"));
  until(endpoint->frames, 1);
  for (int i = 0; i < 100 && endpoint->closed == 0; ++i) {
    client.sendPong();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(endpoint->closed, 1);
}

TEST_F(WebSocketTest, TooManyPingsEndIt) {
  ServerLimits limits;
  limits.limit_loopback = true;
  limits.requests_per_second = 1;
  limits.requests_at_once = 20;
  start(limits);
  {
    RawClient client(server->address());
    ASSERT_EQ(client.openWebSocket("/live").status, 101U);
    client.frame();
    for (int i = 0; i < 15; ++i) client.sendPing();
    for (int i = 0; i < 15; ++i) EXPECT_EQ(client.frame().opcode, 10);
    for (int i = 0; i < 15; ++i) client.sendPing();
    int opcode = 10;
    for (int i = 0; i < 15 && opcode == 10; ++i) opcode = client.frame().opcode;
    EXPECT_EQ(opcode, 8);
    client.sendClose();
  }
  until(endpoint->closed, 1);
  EXPECT_GE(counters->refused[static_cast<std::size_t>(Refusal::kRate)], 1U);
}

TEST_F(WebSocketTest, TheServersEndEndsItsViewers) {
  RawClient client(server->address());
  ASSERT_EQ(client.openWebSocket("/live").status, 101U);
  client.frame();
  server.reset();
  EXPECT_EQ(endpoint->closed, 1);
  EXPECT_EQ(client.frame().opcode, -1);
}

}  // namespace
}  // namespace pingloom::http::websocket_test
