// Leases in a real PostgreSQL server (controller.history_in_postgres). The database's clock runs by
// itself; a test ends a lease by setting its end into the past.
#include "controller/cluster/lease.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "common/file.h"
#include "controller/history/ledger.h"
#include "controller/history/ledger_writer.h"
#include "unit/controller/history/test_history.h"
#include "unit/controller/support.h"

namespace pingloom::controller::lease_test {
namespace {

using test::ip;
using testing::HasSubstr;

constexpr Nanos kWindow = 10 * kSecond;

class OnPostgres : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::TestHistory::onPostgres()) GTEST_SKIP() << "needs PostgreSQL";
  }

  Lease leaseOf(const std::string& name) const {
    ClusterMember self;
    self.name = name;
    self.address = name + ".example:20711";
    self.http = "10.0.0.1:8080";
    const auto folder = history_.folder() / name;
    std::filesystem::create_directories(folder);
    return Lease({history_.place(), std::move(self), folder});
  }
  Instant now() const { return {mono_, utcNow()}; }
  // Returns why it did not join, or "".
  std::string join(Lease& lease) const {
    const auto taken = lease.join(now());
    if (!taken) return taken.error().text();
    return *taken ? nameTaken(**taken).text() : "";
  }
  void renew(Lease& lease, std::uint64_t agents = 0) const { lease.renew(agents, 0, now()); }
  // Both have renewed their lease for longer than one, so that they judge each other.
  void settle(Lease& a, Lease& b) {
    for (int i = 0; i < 4; ++i) {
      renew(a);
      renew(b);
      mono_ += kSecond;
    }
  }
  void sql(const std::string& text) const {
    auto database = Database::open(history_.place());
    ASSERT_TRUE(database);
    const auto status = database->execute(text.c_str());
    ASSERT_TRUE(status) << status.error().text();
  }
  std::int64_t number(const char* text) const {
    auto database = Database::open(history_.place());
    return database ? database->number(text).value_or(-1) : -1;
  }
  void endLease(const std::string& name) const {
    sql("UPDATE pingloom_controllers SET lease_until_ns = 1 WHERE name = '" + name + "'");
  }

  test::TestHistory history_;
  Nanos mono_ = 100 * kSecond;
};

class LeaseTest : public OnPostgres {};

TEST_F(LeaseTest, TheFirstLeadsAndAnotherTakesOverWhenItsLeaseHasEnded) {
  Lease a = leaseOf("a");
  Lease b = leaseOf("b");
  ASSERT_EQ(join(a), "");
  ASSERT_EQ(join(b), "");
  settle(a, b);
  EXPECT_TRUE(a.status().leads);
  EXPECT_FALSE(b.status().leads);
  EXPECT_STREQ(a.status().role(), "leader");
  ASSERT_EQ(b.status().members.size(), 2U);
  EXPECT_EQ(b.status().members[0].name, "a");
  EXPECT_TRUE(b.status().members[0].leads);
  EXPECT_EQ(b.status().epoch, a.fence()->held().epoch);
  const auto before = a.fence()->held();

  endLease("a");
  renew(b);
  EXPECT_TRUE(b.status().leads);
  EXPECT_GT(b.status().epoch, before.epoch);
  ASSERT_EQ(b.status().members.size(), 1U);
  EXPECT_TRUE(b.takeVerdicts()) << "a new leader begins with what was written";

  renew(a);
  EXPECT_GT(a.status().session, before.session) << "it has joined again";
  EXPECT_EQ(a.status().sessions_lost, 1U);
  EXPECT_FALSE(a.fence()->leads(mono_));
  renew(a);
  EXPECT_FALSE(a.status().leads);
  EXPECT_EQ(a.status().members.size(), 2U);
}

TEST_F(LeaseTest, ALeaderThatCannotRenewCountsAsNone) {
  Lease a = leaseOf("a");
  ASSERT_EQ(join(a), "");
  renew(a);
  ASSERT_TRUE(a.fence()->leads(mono_ + kControllerLease - 1));
  EXPECT_FALSE(a.fence()->leads(mono_ + kControllerLease));
  ASSERT_TRUE(a.takeVerdicts());
  mono_ += 10 * kSecond;
  renew(a);
  EXPECT_TRUE(a.fence()->leads(mono_)) << "nobody has ended its session";
  EXPECT_FALSE(a.takeVerdicts()) << "nobody else has led meanwhile, so it goes on with its own";
}

TEST_F(LeaseTest, WhoeverIsBackFirstAfterAnOutageDoesNotEndTheOthers) {
  Lease a = leaseOf("a");
  Lease b = leaseOf("b");
  ASSERT_EQ(join(a), "");
  ASSERT_EQ(join(b), "");
  settle(a, b);
  mono_ += kMinute;
  endLease("a");
  endLease("b");
  renew(b);
  EXPECT_EQ(b.status().members.size(), 2U);
  renew(a);
  EXPECT_TRUE(a.status().leads);
  EXPECT_EQ(a.status().sessions_lost, 0U);
}

TEST_F(LeaseTest, OneThatLeavesIsFollowedAtOnce) {
  Lease a = leaseOf("a");
  Lease b = leaseOf("b");
  ASSERT_EQ(join(a), "");
  ASSERT_EQ(join(b), "");
  EXPECT_TRUE(b.leaderIsGone()) << "nobody has led yet";
  renew(a);
  EXPECT_FALSE(a.leaderIsGone());
  EXPECT_FALSE(b.leaderIsGone());
  a.leave();
  EXPECT_TRUE(b.leaderIsGone());
  EXPECT_FALSE(a.leaderIsGone()) << "it has no session";
  renew(b);
  EXPECT_TRUE(b.status().leads);
  EXPECT_FALSE(b.leaderIsGone());
  EXPECT_EQ(number("SELECT count(*) FROM pingloom_controllers"), 1);
}

TEST_F(LeaseTest, OneNameIsOneController) {
  Lease a = leaseOf("a");
  Lease same = leaseOf("a");
  ASSERT_EQ(join(a), "");
  EXPECT_THAT(join(same), HasSubstr("another controller, with the address a.example:20711, has "
                                    "the name 'a' already"));
  EXPECT_EQ(number("SELECT count(*) FROM pingloom_controllers"), 1);
  endLease("a");
  EXPECT_EQ(join(same), "") << "it was killed, and this is its successor";
  renew(a);
  EXPECT_STREQ(a.status().role(), "outside");
  EXPECT_THAT(a.status().error, HasSubstr("has the name 'a' already"));
  EXPECT_EQ(a.fence()->held().session, 0);
}

TEST_F(LeaseTest, WhatCannotBeSharedIsRefusedByNameAndNothingIsWritten) {
  {
    Lease first = leaseOf("a");
    ASSERT_EQ(join(first), "");
    first.leave();
  }
  {
    Lease ahead = leaseOf("a");
    const auto taken = ahead.join({mono_, utcNow() + 5 * kMinute});
    ASSERT_FALSE(taken);
    EXPECT_THAT(taken.error().text(), HasSubstr("s ahead of the database's"));
  }
  sql("UPDATE pingloom_cluster SET installation = 'another'");
  Lease other = leaseOf("a");
  EXPECT_THAT(join(other), HasSubstr("is the database of another installation (another)"));
  sql("UPDATE pingloom_cluster SET version = 99");
  EXPECT_THAT(join(other), HasSubstr("version 99"));
  sql("DROP TABLE pingloom_leader");
  EXPECT_THAT(join(other), HasSubstr("--init-history"));
  sql("UPDATE pingloom_history SET version = 98");
  EXPECT_THAT(join(other), HasSubstr("format 98"));
  EXPECT_EQ(number("SELECT count(*) FROM pingloom_controllers"), 0);
}

SharedAddress sharedAt(const char* address, std::optional<std::uint32_t> qpn) {
  SharedAddress made{ip(address), std::nullopt};
  if (!qpn) return made;
  plan::Endpoint& endpoint = made.endpoint.emplace();
  endpoint.address = ip(address);
  endpoint.gid[15] = 1;
  endpoint.qpn = *qpn;
  endpoint.q_key = 7;
  endpoint.device = "soft";
  endpoint.incarnation = 5;
  return made;
}

// The queue pairs' numbers, 0 where there is no endpoint.
std::map<IpAddress, std::uint32_t> endpointsIn(const std::vector<SharedAddress>& changes) {
  std::map<IpAddress, std::uint32_t> found;
  for (const SharedAddress& change : changes) {
    found[change.address] = change.endpoint ? change.endpoint->qpn : 0;
  }
  return found;
}

TEST_F(LeaseTest, EndpointsReachTheOtherControllers) {
  Lease a = leaseOf("a");
  Lease b = leaseOf("b");
  ASSERT_EQ(join(a), "");
  ASSERT_EQ(join(b), "");
  ASSERT_TRUE(a.share({sharedAt("10.0.0.1", 17), sharedAt("10.0.0.2", 18)}));
  const auto first = b.shared();
  ASSERT_TRUE(first);
  ASSERT_EQ(first->size(), 2U);
  EXPECT_EQ((*first)[0].endpoint->qpn + (*first)[1].endpoint->qpn, 35U);
  EXPECT_TRUE(b.shared()->empty());
  // The agent has moved, and its former controller notices afterwards.
  ASSERT_TRUE(b.share({sharedAt("10.0.0.1", 19)}));
  ASSERT_TRUE(a.share({sharedAt("10.0.0.1", std::nullopt), sharedAt("10.0.0.2", std::nullopt)}));
  const auto at_a = a.shared();
  ASSERT_TRUE(at_a);
  EXPECT_EQ(endpointsIn(*at_a).at(ip("10.0.0.1")), 19U);
  const auto at_b = b.shared();
  ASSERT_TRUE(at_b);
  EXPECT_EQ(endpointsIn(*at_b).at(ip("10.0.0.1")), 0U) << "its own";
  EXPECT_EQ(endpointsIn(*at_b).at(ip("10.0.0.2")), 0U);
}

TEST_F(LeaseTest, EndpointsOfALostControllerStayForAWhile) {
  Lease a = leaseOf("a");
  Lease b = leaseOf("b");
  ASSERT_EQ(join(a), "");
  ASSERT_EQ(join(b), "");
  settle(a, b);
  ASSERT_TRUE(a.share({sharedAt("10.0.0.1", 17)}));
  endLease("a");
  renew(b);
  ASSERT_TRUE(b.status().leads);
  EXPECT_FALSE(a.share({sharedAt("10.0.0.1", 18)})) << "its session has ended";
  EXPECT_EQ(b.shared()->size(), 1U);
  renew(b);
  mono_ += AddressStore::kKeepOrphans;
  renew(b);
  const auto gone = b.shared();
  ASSERT_EQ(gone->size(), 1U);
  EXPECT_FALSE((*gone)[0].endpoint);
}

class FencedLedger : public OnPostgres {
 protected:
  std::unique_ptr<Ledger> open(const Lease& lease) const {
    auto opened = Ledger::open({history_.place(), 24 * kHour, 1ULL << 30, lease.fence()}, utcNow());
    EXPECT_TRUE(opened) << opened.error().text();
    return opened ? std::move(*opened) : nullptr;
  }
  // Both join, and each has a ledger.
  std::array<std::unique_ptr<Ledger>, 2> openBoth(Lease& a, Lease& b) {
    EXPECT_EQ(join(a), "");
    EXPECT_EQ(join(b), "");
    return {open(a), open(b)};
  }
  static LedgerBatch batchOf(const std::string& host, wire::BatchId id) {
    const auto index = static_cast<std::uint64_t>(utcNow() / kWindow) + id.sequence;
    const auto report = std::make_shared<std::string>(
        test::reportOf("udp", "10.0.0.1", index, {test::goodRow("10.0.0.2")}).SerializeAsString());
    LedgerBatch batch{host, id, {}, report, report->size(), 1};
    batch.windows.push_back(
        {"udp", ip("10.0.0.1"), static_cast<Nanos>(index) * kWindow, kWindow, index, 0, *report});
    return batch;
  }
  // Returns why it was not committed, or "".
  static std::string commit(Ledger& ledger, const std::string& host, std::uint64_t sequence) {
    const std::vector<LedgerBatch> batches = {batchOf(host, {1, sequence})};
    const auto status = ledger.commit(batches, utcNow());
    return status ? "" : status.error().text();
  }
  std::int64_t blocks() const { return number("SELECT count(*) FROM blocks"); }
};

TEST_F(FencedLedger, NothingIsCommittedAfterTheSessionHasEnded) {
  Lease a = leaseOf("a");
  Lease b = leaseOf("b");
  ASSERT_EQ(join(a), "");
  ASSERT_EQ(join(b), "");
  settle(a, b);
  auto ledger = open(a);
  ASSERT_EQ(commit(*ledger, "host-1", 1), "");
  endLease("a");
  renew(b);
  EXPECT_THAT(commit(*ledger, "host-1", 2), HasSubstr("of this controller has ended"));
  const VerdictRecord verdict{VerdictRecord::Kind::kIncident, "1", 1, 0, "{}"};
  EXPECT_FALSE(ledger->record({}, {}, {&verdict, 1}));
  EXPECT_EQ(blocks(), 1);
  EXPECT_EQ(number("SELECT sequence FROM agents"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM verdicts"), 0);
  renew(a);
  EXPECT_EQ(commit(*ledger, "host-1", 2), "") << "it has a new session";
  EXPECT_EQ(blocks(), 2);
}

TEST_F(FencedLedger, OneWithoutAgentsNoticesThatItCanWriteAgain) {
  Lease a = leaseOf("a");
  Lease b = leaseOf("b");
  ASSERT_EQ(join(a), "");
  ASSERT_EQ(join(b), "");
  settle(a, b);
  LedgerWriter writer(open(a));
  endLease("a");
  renew(b);
  ASSERT_TRUE(writer.submit(batchOf("host-1", {1, 1})));
  ASSERT_TRUE(test::eventually([&] { return !writer.status().writing; }));
  renew(a);  // it has a new session, and the agent is somewhere else now
  ASSERT_TRUE(test::eventually([&] { return writer.status().writing; }));
  EXPECT_EQ(writer.status().last_error, "");
}

TEST_F(FencedLedger, AFormerLeaderWritesNoIncidents) {
  Lease a = leaseOf("a");
  ASSERT_EQ(join(a), "");
  mono_ = monotonicNow() + kHour;  // the ledger looks at the real clock
  renew(a);
  auto ledger = open(a);
  const VerdictRecord verdict{VerdictRecord::Kind::kIncident, "1", 1, 0, "{}"};
  ASSERT_TRUE(ledger->record({}, {}, {&verdict, 1}));
  sql("UPDATE pingloom_leader SET epoch = epoch + 1");
  const VerdictRecord later{VerdictRecord::Kind::kIncident, "2", 1, 0, "{}"};
  const auto status = ledger->record({}, {}, {&later, 1});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text(), HasSubstr("another controller leads"));
  EXPECT_EQ(number("SELECT count(*) FROM verdicts"), 1);
  EXPECT_EQ(commit(*ledger, "host-1", 1), "") << "batches need no lead";
}

TEST_F(FencedLedger, ABatchOfAnAgentThatHasMovedCountsOnce) {
  Lease a = leaseOf("a");
  Lease b = leaseOf("b");
  const auto [at_a, at_b] = openBoth(a, b);
  ASSERT_EQ(commit(*at_a, "host-1", 1), "");
  ASSERT_EQ(commit(*at_a, "host-1", 2), "");
  EXPECT_EQ(commit(*at_b, "host-1", 2), "") << "it is there, so it is acknowledged";
  EXPECT_EQ(blocks(), 2);
  EXPECT_EQ(commit(*at_b, "host-1", 3), "");
  EXPECT_EQ(commit(*at_a, "host-1", 4), "");
  EXPECT_EQ(blocks(), 4);
  EXPECT_EQ(number("SELECT sequence FROM agents"), 4);
}

// They are more statements than are queued at once, and the mark of one fails in their middle.
TEST_F(FencedLedger, OneOfManyBatchesWhoseAgentHasMovedCountsOnce) {
  Lease a = leaseOf("a");
  Lease b = leaseOf("b");
  const auto [at_a, at_b] = openBoth(a, b);
  ASSERT_EQ(commit(*at_a, "host-100", 1), "");
  std::vector<LedgerBatch> batches;
  for (int i = 0; i < 300; ++i) batches.push_back(batchOf("host-" + std::to_string(i), {1, 1}));
  const auto status = at_b->commit(batches, utcNow());
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(blocks(), 300);
  EXPECT_EQ(number("SELECT count(*) FROM agents"), 300);
  EXPECT_EQ(commit(*at_b, "host-100", 2), "");
  EXPECT_EQ(blocks(), 301);
}

// A ledger that is paused after a part of a transaction has left: the database ends it, though more
// of it was sent than the connection keeps to itself.
TEST_F(FencedLedger, ATransactionThatStandsStillHoldsUpNobody) {
  Lease a = leaseOf("a");
  ASSERT_EQ(join(a), "");
  auto ledger = open(a);
  ASSERT_EQ(commit(*ledger, "host-1", 1), "");
  auto paused = Database::open(history_.place());
  ASSERT_TRUE(paused);
  ASSERT_TRUE(paused->execute("SET idle_in_transaction_session_timeout = 2000; BEGIN"));
  auto mark = paused->prepare("UPDATE agents SET sequence = ?1 WHERE host = 'host-1'");
  auto insert = paused->prepare("SELECT ?1::text");
  ASSERT_TRUE(mark);
  ASSERT_TRUE(insert);
  ASSERT_TRUE(mark->bind(1, 1).queueChange());
  const std::string text(8192, 'a');
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(insert->bind(1, text).queue());
  EXPECT_EQ(commit(*ledger, "host-1", 2), "") << "it waits for 3 s at most";
  EXPECT_FALSE(paused->settle() && paused->execute("COMMIT"));
}

TEST_F(FencedLedger, OneThatWorksAloneKeepsTheOthersOut) {
  auto alone = Ledger::open({history_.place(), 24 * kHour, 1ULL << 30, nullptr}, utcNow());
  ASSERT_TRUE(alone) << alone.error().text();
  Lease a = leaseOf("a");
  ASSERT_EQ(join(a), "");
  const auto second = Ledger::open({history_.place(), 24 * kHour, 1ULL << 30, a.fence()}, utcNow());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text(), HasSubstr("another controller writes this history"));
}

}  // namespace
}  // namespace pingloom::controller::lease_test
