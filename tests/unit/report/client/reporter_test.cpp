#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <pingloom/report.hpp>
#include <string>
#include <thread>
#include <vector>

#include "../../common/temporary_directory.h"
#include "listener.h"

namespace pingloom::report::client::reporter_test {
namespace {

using test::Datagram;
using test::Listener;
using test::Seen;
using wire::ReportOperation;

TEST(Reporter, SendsManyReportsInADatagram) {
  Listener listener;
  Reporter reporter(listener.name(), 7);
  EXPECT_TRUE(reporter.keyWrite(1, "key", "value"));
  EXPECT_TRUE(reporter.append(2, "event"));
  EXPECT_TRUE(reporter.append(2, "event", 3));
  EXPECT_TRUE(reporter.increment(3, "link", 5));
  EXPECT_TRUE(reporter.postcard(4, "path", 1, 3, "12345678"));
  reporter.flush();
  const auto datagram = listener.receive();
  ASSERT_TRUE(datagram);
  EXPECT_EQ(datagram->head.reporter, 7U);
  EXPECT_EQ(datagram->head.sequence, 1U);
  EXPECT_EQ(datagram->head.skipped, 0U);
  EXPECT_NE(datagram->head.incarnation, 0U);
  ASSERT_EQ(datagram->reports.size(), 5U);
  EXPECT_EQ(datagram->reports[0].key, "key");
  EXPECT_EQ(datagram->reports[0].value, "value");
  EXPECT_EQ(datagram->reports[1].key, "");
  EXPECT_EQ(datagram->reports[2].key, std::string("\0\0\0\3", 4));
  EXPECT_EQ(datagram->reports[3].operation, ReportOperation::kKeyIncrement);
  EXPECT_EQ(datagram->reports[3].value, std::string("\0\0\0\0\0\0\0\5", 8));
  EXPECT_EQ(datagram->reports[4].table, 4);
  EXPECT_EQ(reporter.status().sent, 5U);
}

TEST(Reporter, SendsByItselfAfterAWhile) {
  Listener listener;
  Reporter reporter(listener.name());
  for (std::uint32_t sequence = 1; sequence <= 3; ++sequence) {
    reporter.keyWrite(1, "key", "value");
    const auto datagram = listener.receive();
    ASSERT_TRUE(datagram);
    EXPECT_EQ(datagram->head.sequence, sequence);
  }
}

TEST(Reporter, SendsWhatIsFull) {
  Listener listener;
  Reporter reporter(listener.name(), 0, 400);
  for (int i = 0; i < 1000; ++i) reporter.keyWrite(1, std::to_string(i), "value");
  reporter.flush();
  int next = 0;
  std::uint32_t sequence = 0;
  while (next < 1000) {
    const auto datagram = listener.receive();
    ASSERT_TRUE(datagram);
    EXPECT_LE(datagram->head.length, 400);
    EXPECT_EQ(datagram->head.sequence, ++sequence);
    for (const Seen& seen : datagram->reports) EXPECT_EQ(seen.key, std::to_string(next++));
  }
  EXPECT_EQ(reporter.status().datagrams, sequence);
}

TEST(Reporter, CountsWhatItRefuses) {
  Listener listener;
  Reporter reporter(listener.name());
  EXPECT_FALSE(reporter.keyWrite(1, "", "value"));
  EXPECT_FALSE(reporter.keyWrite(1, std::string(41, 'k'), "value"));
  EXPECT_FALSE(reporter.keyWrite(1, "key", ""));
  EXPECT_FALSE(reporter.keyWrite(1, "key", std::string(256, 'v')));
  EXPECT_FALSE(reporter.append(1, ""));
  EXPECT_FALSE(reporter.increment(1, "key", std::uint64_t{1} << 48));
  EXPECT_FALSE(reporter.postcard(1, "key", 3, 3, "v"));
  EXPECT_EQ(reporter.status().skipped, 7U);
  EXPECT_EQ(reporter.status().taken, 0U);
  EXPECT_TRUE(reporter.keyWrite(1, std::string(40, 'k'), std::string(255, 'v')));
  const auto datagram = listener.receive();
  ASSERT_TRUE(datagram);
  EXPECT_EQ(datagram->head.skipped, 7U);
}

TEST(Reporter, CountsWhatNobodyReceives) {
  Listener listener;
  Reporter reporter(listener.name());
  listener.close();
  for (int i = 0; i < 10; ++i) {
    reporter.keyWrite(1, "key", "value");
    reporter.flush();
  }
  const auto status = reporter.status();
  EXPECT_EQ(status.taken, 10U);
  EXPECT_EQ(status.sent, 0U);
  EXPECT_EQ(status.skipped, 10U);
  EXPECT_EQ(status.last_error, ECONNREFUSED);
}

TEST(Reporter, RefusesBadOptions) {
  const auto opened = [](const char* translator, std::size_t datagram) {
    pingloom_reporter_options options{};
    options.translator = translator;
    options.datagram = datagram;
    pingloom_reporter* made = nullptr;
    const int error = pingloom_reporter_open(&options, &made);
    EXPECT_EQ(made == nullptr, error != 0);
    pingloom_reporter_close(made);
    return error;
  };
  EXPECT_EQ(opened("127.0.0.1", 0), 0);
  EXPECT_EQ(opened("127.0.0.1:5", 8900), 0);
  for (const char* bad : {"", "host", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:70000", "[::1",
                          "[::1]5", "[127.0.0.1]:5"}) {
    EXPECT_EQ(opened(bad, 0), EINVAL) << bad;
  }
  EXPECT_EQ(opened("127.0.0.1", 100), EINVAL);
  EXPECT_EQ(opened("127.0.0.1", 8901), EINVAL);
}

TEST(Reporter, ReadsItsKey) {
  const pingloom::test::TemporaryDirectory folder;
  const std::string file = (folder / "reporter.key").string();
  const auto opened = [&](const std::string& text, mode_t mode = 0600) {
    std::ofstream(file) << text;
    chmod(file.c_str(), mode);
    pingloom_reporter_options options{};
    options.key_file = file.c_str();
    pingloom_reporter* made = nullptr;
    const int error = pingloom_reporter_open(&options, &made);
    pingloom_reporter_close(made);
    return error;
  };
  constexpr const char* kText = "000102030405060708090a0b0c0d0e0f\n";
  EXPECT_EQ(opened(kText), 0);
  EXPECT_EQ(opened(kText, 0640), 0);
  EXPECT_EQ(opened(kText, 0644), EPERM);
  EXPECT_EQ(opened("0001"), EINVAL);
  EXPECT_EQ(opened(""), EINVAL);
  EXPECT_THROW(Reporter("", 0, 0, false, (folder / "none").string()), std::system_error);
  EXPECT_EQ(opened(kText), 0);
  Listener listener;
  Reporter reporter(listener.name(), 7, 0, false, file);
  for (int i = 0; i < 100; ++i) reporter.keyWrite(1, std::to_string(i), "value");
  reporter.flush();
  constexpr wire::ReportKey kKey = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const auto datagram = listener.receive(2000, &kKey);
  ASSERT_TRUE(datagram);
  EXPECT_EQ(datagram->head.flags, wire::kReportKeeps | wire::kReportSealed);
  EXPECT_LE(datagram->head.length, PINGLOOM_REPORT_DATAGRAM);
}

TEST(Reporter, NothingHappensWithoutOne) {
  EXPECT_EQ(pingloom_report_append(nullptr, 1, 0, "a", 1), EBADF);
  pingloom_reporter_flush(nullptr);
  pingloom_reporter_close(nullptr);
  pingloom_reporter_status status{};
  status.sent = 1;
  pingloom_reporter_get_status(nullptr, &status);
  EXPECT_EQ(status.sent, 0U);
}

TEST(Reporter, ManyThreadsLoseNothing) {
  Listener listener;
  Reporter reporter(listener.name());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) reporter.keyWrite(1, "key", "value");
    });
  }
  for (std::thread& thread : threads) thread.join();
  reporter.flush();
  const auto status = reporter.status();
  EXPECT_EQ(status.taken, 2000U);
  EXPECT_EQ(status.sent + status.skipped, 2000U);
  std::size_t got = 0;
  while (got < status.sent) {
    const auto datagram = listener.receive();
    ASSERT_TRUE(datagram);
    got += datagram->reports.size();
  }
  EXPECT_EQ(got, status.sent);
}

TEST(Reporter, SendsAgainWhatIsAskedFor) {
  Listener listener;
  Reporter reporter(listener.name(), 3);
  std::vector<Datagram> sent;
  for (int i = 0; i < 5; ++i) {
    reporter.keyWrite(1, std::to_string(i), "value");
    reporter.flush();
    sent.push_back(*listener.receive());
    EXPECT_EQ(sent.back().head.flags, wire::kReportKeeps);
  }
  auto other = sent[0].head;
  other.incarnation ^= 1;
  listener.ask(other, {{1, 5}});
  listener.ask(sent[0].head, {{2, 2}, {5, 1}, {100, 1'000'000'000}});
  for (const std::uint32_t sequence : {2U, 3U, 5U}) {
    const auto again = listener.receive();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->head.sequence, sequence);
    EXPECT_EQ(again->head.flags, wire::kReportKeeps | wire::kReportAgain);
    EXPECT_EQ(again->reports[0].key, sent[sequence - 1].reports[0].key);
  }
  EXPECT_FALSE(listener.receive(50));
  EXPECT_EQ(reporter.status().repeated, 3U);
  EXPECT_EQ(reporter.status().datagrams, 5U);
}

TEST(Reporter, MayForget) {
  Listener listener;
  Reporter reporter(listener.name(), 3, 0, true);
  reporter.keyWrite(1, "key", "value");
  const auto sent = listener.receive();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->head.flags, 0);
  listener.ask(sent->head, {{1, 1}});
  EXPECT_FALSE(listener.receive(100));
}

TEST(Reporter, AForkedChildIsAnotherReporter) {
  Listener listener;
  Reporter reporter(listener.name());
  reporter.keyWrite(1, "parent", "value");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    reporter.keyWrite(1, "child", "value");
    usleep(200'000);  // its own thread sends
    _exit(0);
  }
  std::array<std::optional<Datagram>, 2> both;
  for (auto& datagram : both) datagram = listener.receive();
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(both[0] && both[1]);
  EXPECT_NE(both[0]->head.incarnation, both[1]->head.incarnation);
  for (const auto& datagram : both) {
    EXPECT_EQ(datagram->head.sequence, 1U);
    ASSERT_EQ(datagram->reports.size(), 1U);
  }
  EXPECT_NE(both[0]->reports[0].key, both[1]->reports[0].key);
  EXPECT_FALSE(listener.receive(50)) << "a report left twice";
}

}  // namespace
}  // namespace pingloom::report::client::reporter_test
