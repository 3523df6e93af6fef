#include "controller/history/ledger_roll_up.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "controller/history/history.h"
#include "controller/history/ledger_writer.h"
#include "controller/history/past_pair.h"
#include "controller/history/past_presence.h"
#include "unit/controller/history/test_history.h"
#include "unit/controller/support.h"

namespace pingloom::controller::ledger_roll_up_test {
namespace {

using test::eventually;
using test::ip;

constexpr Nanos kUtc = 1'795'230'720 * kSecond;  // a full minute
constexpr Nanos kWindow = 10 * kSecond;
constexpr Nanos kLater = kUtc + LedgerRollUp::kAge + kMinute;

class LedgerRollUpTest : public testing::Test {
 protected:
  std::unique_ptr<Ledger> open() {
    auto opened = Ledger::open({history_.place(), 24 * kHour, 1ULL << 30}, kUtc);
    EXPECT_TRUE(opened) << opened.error().text();
    return opened ? std::move(*opened) : nullptr;
  }
  void commit(Ledger& ledger, wire::Report report) {
    const LedgerBatch batch = test::ledgerBatchOf({1, ++sequence_}, report);
    ASSERT_TRUE(ledger.commit({&batch, 1}, kUtc));
  }
  static wire::Report window(Nanos start, std::uint64_t network_ns = 9'000,
                             Nanos length = kWindow) {
    return test::reportOf("udp", "10.0.0.1", static_cast<std::uint64_t>(start / length),
                          {test::goodRow("10.0.0.2", network_ns), test::lossRow("10.0.0.3")},
                          length);
  }
  // All steps there are.
  static std::size_t rollUp(Ledger& ledger, Nanos now = kLater) {
    std::size_t windows = 0;
    for (;;) {
      const auto step = ledger.rollUp(now);
      EXPECT_TRUE(step) << step.error().text();
      if (!step || *step == 0) return windows;
      windows += *step;
    }
  }
  std::int64_t count(const char* sql) {
    auto database = Database::open(history_.place());
    EXPECT_TRUE(database);
    return database->number(sql).value_or(-1);
  }
  // Sums up the pair to 10.0.0.2 over everything that is kept.
  std::pair<Row, SourceRows> total(std::uint32_t path = 0) {
    const auto history = History::open(history_.place());
    EXPECT_TRUE(history);
    PastPair pair(ip("10.0.0.2"));
    EXPECT_TRUE((*history)->visit({"udp", ip("10.0.0.1"), path, 0, INT64_MAX},
                                  [&](const PastContent& block) { pair.add(block); }));
    EXPECT_EQ(pair.damaged(), 0U);
    return {pair.row(), pair.source()};
  }

  test::TestHistory history_;
  std::uint64_t sequence_ = 0;
};

TEST_F(LedgerRollUpTest, AMinuteTakesThePlaceOfItsWindows) {
  auto ledger = open();
  for (int i = 0; i < 12; ++i) commit(*ledger, window(kUtc + i * kWindow, i < 4 ? 1'000 : 9'000));
  EXPECT_EQ(rollUp(*ledger, kUtc + LedgerRollUp::kAge), 0U) << "no minute is old enough";
  EXPECT_EQ(rollUp(*ledger), 6U) << "the first is";
  EXPECT_EQ(count("SELECT count(*) FROM blocks"), 7);
  EXPECT_EQ(count("SELECT count(*) FROM blocks WHERE minute = 1 AND window_ns = 60000000000"), 1);
  EXPECT_EQ(count("SELECT start_ns FROM blocks WHERE minute = 1"), kUtc);
  const auto [row, source] = total();
  EXPECT_EQ(row.sent, 120U);
  EXPECT_EQ(source.window_start_utc, kUtc);
  EXPECT_EQ(source.endUtc(), kUtc + 2 * kMinute);
  const auto history = std::move(*History::open(history_.place()));
  PastPair pair(ip("10.0.0.2"));
  EXPECT_TRUE(history->visit({"udp", ip("10.0.0.1"), 0, kUtc, kUtc + 1},
                             [&](const PastContent& block) { pair.add(block); }));
  EXPECT_TRUE(pair.rolledUp());
  EXPECT_EQ(pair.row().sent, 60U);
  EXPECT_NEAR(static_cast<double>(pair.row().network.p50), 1'000, 20) << "of 40 against 20 samples";
  EXPECT_NEAR(static_cast<double>(pair.row().network.p95), 9'000, 300);
}

TEST_F(LedgerRollUpTest, PathsClocksAndWindowsOfAMinuteStayApart) {
  auto ledger = open();
  for (int i = 0; i < 6; ++i) {
    commit(*ledger, window(kUtc + i * kWindow));
    wire::Report path = window(kUtc + i * kWindow);
    path.set_path(2);
    commit(*ledger, path);
    wire::Report hardware = window(kUtc + i * kWindow);
    hardware.set_clock(3);
    commit(*ledger, hardware);
  }
  commit(*ledger, window(kUtc, 9'000, kMinute));
  EXPECT_EQ(rollUp(*ledger), 19U);
  EXPECT_EQ(count("SELECT count(*) FROM blocks WHERE minute = 1"), 4);
  EXPECT_EQ(total(2).first.sent, 60U);
  EXPECT_EQ(total().first.sent, 130U);
}

TEST_F(LedgerRollUpTest, WhatComesLateIsCountedBesideItsMinute) {
  auto ledger = open();
  for (int i = 0; i < 5; ++i) commit(*ledger, window(kUtc + i * kWindow));
  EXPECT_EQ(rollUp(*ledger), 5U);
  commit(*ledger, window(kUtc + 5 * kWindow));
  EXPECT_EQ(rollUp(*ledger), 1U);
  EXPECT_EQ(rollUp(*ledger), 0U);
  EXPECT_EQ(count("SELECT count(*) FROM blocks WHERE minute = 1"), 2);
  EXPECT_EQ(total().first.sent, 60U);
  ProbeGrid grid;
  grid.sources = {ip("10.0.0.1")};
  grid.destinations = {ip("10.0.0.2"), ip("10.0.0.3")};
  PastSource past(grid, {&Row::rtt, &Summary::p99});
  past.begin();
  const auto history = std::move(*History::open(history_.place()));
  ASSERT_TRUE(history->at("udp", ip("10.0.0.1"), kUtc + 30 * kSecond,
                          [&](const PastContent& block) { past.add(block); }));
  const auto found = past.window();
  ASSERT_TRUE(found);
  EXPECT_EQ(test::countsAt(*found, 0).sent, 60U);
  States states;
  pastStates(grid, ip("10.0.0.1"), found, {}, kUtc, states);
  EXPECT_EQ(states, (States{PairState::kOk, PairState::kLoss}));
}

TEST_F(LedgerRollUpTest, LongWindowsAreRolledUpEachByItself) {
  auto ledger = open();
  for (int i = 0; i < 2; ++i) commit(*ledger, window(kUtc + i * 2 * kMinute, 9'000, 2 * kMinute));
  EXPECT_EQ(rollUp(*ledger, kLater + kHour), 2U);
  EXPECT_EQ(count("SELECT count(*) FROM blocks WHERE window_ns = 120000000000 AND minute = 1"), 2);
}

TEST_F(LedgerRollUpTest, ADamagedBlockIsCountedAndLeftOut) {
  auto ledger = open();
  for (int i = 0; i < 3; ++i) commit(*ledger, window(kUtc + i * kWindow));
  ASSERT_TRUE(Database::open(history_.place())
                  ->execute("UPDATE blocks SET content = x'0102030405' WHERE sequence = 2"));
  EXPECT_EQ(rollUp(*ledger), 3U);
  EXPECT_EQ(ledger->blocksDropped(), 1U);
  EXPECT_EQ(total().first.sent, 20U);
}

TEST_F(LedgerRollUpTest, OnlyDamagedOnesLeaveNothing) {
  auto ledger = open();
  commit(*ledger, window(kUtc));
  ASSERT_TRUE(Database::open(history_.place())->execute("UPDATE blocks SET content = x''"));
  EXPECT_EQ(rollUp(*ledger), 1U);
  EXPECT_EQ(count("SELECT count(*) FROM blocks"), 0);
}

// Whenever it is killed, every ping is there once, in a window or in a minute; the next process
// goes on.
TEST_F(LedgerRollUpTest, AKillInTheMiddleLosesNothing) {
  constexpr int kMinutes = 60;
  {
    auto ledger = open();
    for (int i = 0; i < 6 * kMinutes; ++i) commit(*ledger, window(kUtc + i * kWindow));
  }
  const Nanos now = kLater + kMinutes * kMinute;
  std::int64_t windows = 6 * kMinutes;
  for (int round = 0; round < 6; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      auto ledger = Ledger::open({history_.place(), 24 * kHour, 1ULL << 30}, kUtc);
      while (ledger && (*ledger)->rollUp(now).value_or(0) > 0) {
      }
      _exit(0);
    }
    ::usleep(500U << round);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(total().first.sent, 10U * 6 * kMinutes) << "round " << round;
    const std::int64_t left = count("SELECT count(*) FROM blocks WHERE minute = 0");
    EXPECT_LE(left, windows);
    EXPECT_EQ(left % 6, 0) << "whole minutes";
    windows = left;
  }
  auto ledger = open();
  EXPECT_EQ(rollUp(*ledger, now), static_cast<std::size_t>(windows));
  EXPECT_EQ(count("SELECT count(*) FROM blocks"), kMinutes);
  EXPECT_EQ(total().first.sent, 10U * 6 * kMinutes);
}

TEST_F(LedgerRollUpTest, AFullDiskLeavesTheWindows) {
  auto ledger = open();
  for (int i = 0; i < 6; ++i) commit(*ledger, window(kUtc + i * kWindow));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit full{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  EXPECT_FALSE(ledger->rollUp(kLater));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(count("SELECT count(*) FROM blocks WHERE minute = 0"), 6);
  EXPECT_EQ(rollUp(*ledger), 6U);
  EXPECT_EQ(total().first.sent, 60U);
}

TEST_F(LedgerRollUpTest, MinutesGoWhenTheRetentionIsOver) {
  auto ledger = open();
  for (int i = 0; i < 12; ++i) commit(*ledger, window(kUtc + i * kWindow));
  EXPECT_EQ(rollUp(*ledger, kLater + kMinute), 12U);
  EXPECT_FALSE(*ledger->trim(64, kUtc + 24 * kHour + 1)) << "few enough";
  EXPECT_EQ(count("SELECT count(*) FROM blocks"), 1);
  EXPECT_EQ(count("SELECT start_ns FROM blocks"), kUtc + kMinute);
}

// The writer does it by itself, while it commits: these windows are of long ago.
TEST_F(LedgerRollUpTest, TheWriterRollsUp) {
  LedgerWriter writer(open());
  const Nanos old = (utcNow() - 3 * kHour) / kMinute * kMinute;
  for (int i = 0; i < 60; ++i) {
    const wire::Report report = window(old + i * kWindow);
    const auto bytes = std::make_shared<std::string>(report.SerializeAsString());
    const auto head = readHead(report);
    LedgerBatch batch{"host", {1, ++sequence_}, {}, bytes, bytes->size(), 1};
    batch.windows.push_back({report.probe(), head->source, head->start_utc, head->window,
                             head->window_index, head->path, *bytes});
    ASSERT_TRUE(writer.submit(std::move(batch)));
  }
  // What is there before all is committed may have been rolled up by then.
  EXPECT_TRUE(eventually([&] {
    return count("SELECT count(*) FROM blocks WHERE minute = 0") == 0 && total().first.sent >= 600;
  }));
  EXPECT_EQ(total().first.sent, 600U);
}

}  // namespace
}  // namespace pingloom::controller::ledger_roll_up_test
