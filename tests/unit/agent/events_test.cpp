// The events that an agent reports, received from its datagrams by a socket of the test.
#include "agent/events.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/fd.h"
#include "wire/report_reader.h"

namespace pingloom::agent::events_test {
namespace {

class EventsTest : public testing::Test {
 protected:
  void SetUp() override {
    socket_ = UniqueFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof own;
    ASSERT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&own), length), 0);
    ASSERT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&own), &length), 0);
    timeval patience{20, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    auto opened = Events::open({.translator = "127.0.0.1:" + std::to_string(ntohs(own.sin_port)),
                                .table = 7,
                                .paths = 8,
                                .votes = 9,
                                .key = {}});
    ASSERT_TRUE(opened) << opened.error().text();
    events = std::move(*opened);
    assignment = std::make_shared<plan::Assignment>();
    assignment->probe.name = "mesh";
    assignment->source = IpAddress::fromV4(0x0a000001);
    assignment->destinations = {IpAddress::fromV4(0x0a000002), IpAddress::fromV4(0x0a000003)};
  }

  // Waits until `count` reports to a table have arrived, and returns each as `text` makes it.
  std::vector<std::string> reports(
      std::size_t count, std::uint16_t table,
      const std::function<std::string(const wire::ReportItem&)>& text) {
    std::vector<std::string> made;
    while (made.size() < count) {
      std::array<std::uint8_t, 2048> buffer{};
      const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) break;
      wire::ReportReader reader;
      const auto refusal = reader.open({buffer.data(), static_cast<std::size_t>(got)});
      EXPECT_EQ(refusal, wire::ReportRefusal::kNone);
      if (refusal != wire::ReportRefusal::kNone) break;
      while (made.size() < count && reader.next()) {
        EXPECT_EQ(reader.report().table, table);
        made.push_back(text(reader.report()));
      }
    }
    return made;
  }
  // The entries of the list of events; each is without its time.
  std::vector<std::string> entries(std::size_t count) {
    return reports(count, 7, [](const wire::ReportItem& report) {
      const std::string text(report.value.begin(), report.value.end());
      return text.substr(text.find(' ') + 1);
    });
  }
  // "KEYBYTES HOP/HOPS KEY VALUE", key and value in hexadecimal digits.
  static std::string inHex(const wire::ReportItem& report) {
    std::string text = fmt::format("{} {}/{} ", report.key.size(), report.hop, report.hops);
    for (const std::uint8_t byte : report.key) text += fmt::format("{:02x}", byte);
    text += ' ';
    for (const std::uint8_t byte : report.value) text += fmt::format("{:02x}", byte);
    return text;
  }
  TracedPath path() const {
    TracedPath made;
    made.probe = "mesh";
    made.source = assignment->source;
    made.destination = assignment->destinations[0];
    made.source_port = 0xC001;
    made.destination_port = 4791;
    made.end = PathEnd::kReached;
    made.hops = {{IpAddress::fromV4(0x0a020001), 24'000},
                 {},
                 {IpAddress::fromV4(0x0a020003), 5 * kSecond},
                 {IpAddress::fromV4(0x0a020004), 1}};
    return made;
  }
  probe::ClosedWindow window(std::uint32_t first_lost, std::uint32_t second_refused) const {
    probe::ClosedWindow made;
    made.assignment = assignment;
    made.pairs.resize(2);
    made.pairs[0].sent = 10;
    made.pairs[0].lost = first_lost;
    made.pairs[1].sent = 10;
    made.pairs[1].refused = second_refused;
    return made;
  }

  UniqueFd socket_;
  std::unique_ptr<Events> events;
  std::shared_ptr<plan::Assignment> assignment;
};

TEST_F(EventsTest, APingThatGoesWrong) {
  events->pingEvent(probe::PingEvent::kLate, *assignment, assignment->destinations[1],
                    500 * kMillisecond);
  EXPECT_EQ(entries(1), std::vector<std::string>{"late mesh 10.0.0.1>10.0.0.3 500.0ms"});
}

TEST_F(EventsTest, TheHopsOfAPath) {
  events->add(path());
  const std::string key = "0a0000010a000002c00112b7";
  EXPECT_EQ(
      reports(3, 8, inHex),
      (std::vector<std::string>{"13 0/4 11" + key + " 0a02000100005dc0",
                                "13 2/4 11" + key + " 0a020003ffffffff",  // the time saturates
                                "13 3/4 11" + key + " 0a02000400000001"}));
}

TEST_F(EventsTest, ThePathOfATcpConnection) {
  TracedPath connection = path();
  connection.one_connection = true;
  connection.hops.resize(1);
  events->add(connection);
  EXPECT_EQ(reports(1, 8, inHex),
            std::vector<std::string>{"13 0/1 060a0000010a000002c00112b7 0a02000100005dc0"});
  // Other connections may have lost what a window says, so the first vote is that of a UDP flow.
  connection.hops = path().hops;
  events->vote(window(3, 0), [&](const IpAddress&) { return &connection; });
  const TracedPath known = path();
  events->vote(window(4, 0), [&](const IpAddress& destination) {
    return destination == known.destination ? &known : nullptr;
  });
  const auto votes = reports(1, 9, inHex);
  ASSERT_EQ(votes.size(), 1U);
  EXPECT_TRUE(votes[0].ends_with(" 0000000000000004")) << votes[0];
}

TEST_F(EventsTest, VotesForTheLinksOfAFlowThatLoses) {
  const TracedPath known = path();
  events->vote(window(3, 0), [&](const IpAddress& destination) {
    return destination == known.destination ? &known : nullptr;
  });
  const auto votes = reports(1, 9, inHex);
  ASSERT_EQ(votes.size(), 1U) << "a link beside a silent router has no name";
  EXPECT_TRUE(votes[0].ends_with(" 0000000000000003")) << votes[0];
  events->vote(window(0, 2), [&](const IpAddress&) -> const TracedPath* {
    ADD_FAILURE() << "nothing was lost";
    return nullptr;
  });
}

TEST_F(EventsTest, AChangeOfState) {
  events->add(window(0, 0));
  events->add(window(0, 0));
  events->add(window(1, 10));
  events->add(window(2, 10));
  events->add(window(0, 10));
  EXPECT_EQ(entries(3), (std::vector<std::string>{"state mesh 10.0.0.1>10.0.0.2 ok>loss",
                                                  "state mesh 10.0.0.1>10.0.0.3 ok>refused",
                                                  "state mesh 10.0.0.1>10.0.0.2 loss>ok"}));
}

TEST_F(EventsTest, AnErrorCounterThatMoves) {
  const auto counters = [](std::uint64_t errors, std::uint64_t pauses) {
    NicPorts made{{"mlx5_0", 1, {}}};
    const auto add = [&](std::string_view name, std::uint64_t value) {
      const auto id = counterNamed(CounterOrigin::kPort, name);
      ASSERT_TRUE(id) << name;
      made[0].counters.push_back({*id, value});
    };
    add("symbol_error_total", errors);
    add("port_transmit_wait_total", pauses);
    return std::make_shared<const NicPorts>(made);
  };
  events->add(counters(5, 1));
  events->add(counters(5, 9));
  events->add(counters(17, 9));
  EXPECT_EQ(entries(1), std::vector<std::string>{"counter mlx5_0/1 symbol_error_total +12"});
}

TEST_F(EventsTest, WhateverIsReportedNextTellsHowMuchWasSuppressed) {
  while (events->counts().suppressed == 0) {
    events->pingEvent(probe::PingEvent::kLost, *assignment, assignment->destinations[0], kSecond);
  }
  entries(Events::kMaxPerSecond);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  events->add(path());
  const auto next = entries(1);
  ASSERT_EQ(next.size(), 1U);
  EXPECT_TRUE(next[0].starts_with("suppressed ")) << next[0];
}

TEST_F(EventsTest, AnOutageDoesNotFloodTheTranslator) {
  const std::uint32_t total = Events::kMaxPerSecond * 3;
  for (std::uint32_t i = 0; i < total; ++i) {
    events->pingEvent(probe::PingEvent::kLost, *assignment, assignment->destinations[0], kSecond);
  }
  const EventCounts counts = events->counts();
  EXPECT_EQ(counts.taken + counts.suppressed, total);
  EXPECT_GE(counts.taken, Events::kMaxPerSecond);
}

}  // namespace
}  // namespace pingloom::agent::events_test
