// Shares keys through a real PostgreSQL server (controller.history_in_postgres).
#include "controller/cluster/key_sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/file.h"
#include "controller/cluster/lease.h"
#include "keys/authorized_file.h"
#include "net/curve_key.h"
#include "unit/controller/history/test_history.h"
#include "unit/controller/support.h"

namespace pingloom::controller::key_sync_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class KeySyncTest : public testing::Test {
 protected:
  // A controller with its files.
  struct Side {
    std::filesystem::path list;
    std::filesystem::path state;
    std::shared_ptr<Fence> fence = std::make_shared<Fence>();
    std::unique_ptr<KeySync> sync;
    std::unique_ptr<Lease> lease;
  };

  void SetUp() override {
    if (!test::TestHistory::onPostgres()) GTEST_SKIP() << "needs PostgreSQL";
    for (const char* name : {"a", "b"}) {
      Side& side = sides_.emplace_back();
      side.state = history_.folder() / name;
      side.list = side.state / "keys" / "authorized_keys.yaml";
      std::filesystem::create_directories(side.list.parent_path());
      change(side, [](keys::AuthorizedKeys&, keys::JoinBook&) { return Status(); });
      ClusterMember self;
      self.name = name;
      side.lease = std::make_unique<Lease>(LeaseOptions{history_.place(), self, side.state});
      ASSERT_TRUE(side.lease->join(Instant::now()));
      side.fence = side.lease->fence();
      restart(side);
    }
  }

  void restart(Side& side) {
    side.sync = std::make_unique<KeySync>(
        KeySync::Options{history_.place(), side.list, side.state, side.fence});
  }
  static void change(const Side& side,
                     const std::function<Status(keys::AuthorizedKeys&, keys::JoinBook&)>& change) {
    const auto status = keys::changeKeyFiles(side.list, true, change);
    ASSERT_TRUE(status) << status.error().text();
  }
  static void authorize(const Side& side, const std::string& host, const std::string& address) {
    change(side, [&](keys::AuthorizedKeys& list, keys::JoinBook&) {
      keys::AuthorizedKey entry(net::CurvePair::generate().public_key);
      entry.host = host;
      EXPECT_TRUE(keys::addAddresses(address, entry));
      return list.add(std::move(entry));
    });
  }
  static void revoke(const Side& side, const std::string& host) {
    change(side, [&](keys::AuthorizedKeys& list, keys::JoinBook&) -> Status {
      const auto removed = list.remove(host);
      return removed ? Status() : tl::unexpected(removed.error());
    });
  }
  // Returns why it failed, or "".
  static std::string step(const Side& side, bool changed = true) {
    const auto status = side.sync->step(changed, utcNow());
    return status ? "" : status.error().text();
  }
  static std::vector<std::string> hosts(const Side& side) {
    std::vector<std::string> found;
    const auto list = keys::loadAuthorizedKeys(side.list);
    if (!list) return {list.error().text()};
    for (const auto& entry : list->entries()) found.push_back(entry.host);
    std::sort(found.begin(), found.end());
    return found;
  }

  test::TestHistory history_;
  std::vector<Side> sides_;
};

TEST_F(KeySyncTest, KeysOfBothAreKnownToBoth) {
  authorize(sides_[0], "gpu-1", "10.0.0.1");
  authorize(sides_[1], "gpu-2", "10.0.0.2");
  EXPECT_EQ(step(sides_[0]), "");
  EXPECT_EQ(step(sides_[1]), "");
  EXPECT_EQ(step(sides_[0], false), "") << "the database has a newer version";
  EXPECT_THAT(hosts(sides_[0]), ElementsAre("gpu-1", "gpu-2"));
  EXPECT_THAT(hosts(sides_[1]), ElementsAre("gpu-1", "gpu-2"));
}

TEST_F(KeySyncTest, ARevokedKeyIsRevokedEverywhere) {
  authorize(sides_[0], "gpu-1", "10.0.0.1");
  for (int i : {0, 1, 0}) EXPECT_EQ(step(sides_[i]), "");
  revoke(sides_[1], "gpu-1");
  for (int i : {1, 0}) EXPECT_EQ(step(sides_[i], i == 1), "");
  EXPECT_THAT(hosts(sides_[0]), IsEmpty());
  EXPECT_THAT(hosts(sides_[1]), IsEmpty());
}

TEST_F(KeySyncTest, AKeyThatWasRevokedWhileTheControllerDidNotRunStaysRevoked) {
  authorize(sides_[0], "gpu-1", "10.0.0.1");
  for (int i : {0, 1}) EXPECT_EQ(step(sides_[i]), "");
  revoke(sides_[1], "gpu-1");
  authorize(sides_[0], "gpu-2", "10.0.0.2");
  EXPECT_EQ(step(sides_[0]), "");
  restart(sides_[1]);
  EXPECT_EQ(step(sides_[1]), "");
  EXPECT_EQ(step(sides_[0], false), "");
  EXPECT_THAT(hosts(sides_[0]), ElementsAre("gpu-2"));
  EXPECT_THAT(hosts(sides_[1]), ElementsAre("gpu-2"));
}

TEST_F(KeySyncTest, ATokenWorksAtBothAndItsUsesAreCounted) {
  const net::CurveKey token = net::CurvePair::generate().public_key;
  change(sides_[0], [&](keys::AuthorizedKeys&, keys::JoinBook& book) -> Status {
    keys::KnownToken& made = book.tokens.emplace_back(token);
    made.created_utc = utcNow();
    made.expires_utc = utcNow() + kHour;
    made.uses = 10;
    return {};
  });
  for (int i : {0, 1}) EXPECT_EQ(step(sides_[i]), "");
  for (int i : {0, 1}) {
    change(sides_[i], [&](keys::AuthorizedKeys&, keys::JoinBook& book) -> Status {
      book.token(token)->used += 2;
      return {};
    });
    authorize(sides_[i], "gpu-" + std::to_string(i), "10.0.0." + std::to_string(i));
  }
  for (int i : {0, 1, 0}) EXPECT_EQ(step(sides_[i]), "");
  for (int i : {0, 1}) {
    auto book = keys::loadJoinBook(sides_[i].list);
    ASSERT_TRUE(book && book->token(token) != nullptr);
    EXPECT_EQ(book->token(token)->used, 4U);
  }
}

TEST_F(KeySyncTest, AMissingListRevokesNothing) {
  authorize(sides_[0], "gpu-1", "10.0.0.1");
  for (int i : {0, 1}) EXPECT_EQ(step(sides_[i]), "");
  std::filesystem::remove(sides_[1].list);
  EXPECT_NE(step(sides_[1]), "");
  EXPECT_EQ(step(sides_[0]), "");
  EXPECT_THAT(hosts(sides_[0]), ElementsAre("gpu-1"));
}

TEST_F(KeySyncTest, AListThatIsMadeAnewRevokesNothing) {
  authorize(sides_[0], "gpu-1", "10.0.0.1");
  for (int i : {0, 1}) EXPECT_EQ(step(sides_[i]), "");
  std::filesystem::remove(sides_[1].list);
  EXPECT_NE(step(sides_[1]), "");
  authorize(sides_[1], "gpu-2", "10.0.0.2");
  for (int i : {1, 0}) EXPECT_EQ(step(sides_[i]), "");
  EXPECT_THAT(hosts(sides_[0]), ElementsAre("gpu-1", "gpu-2"));
  EXPECT_THAT(hosts(sides_[1]), ElementsAre("gpu-1", "gpu-2"));
}

TEST_F(KeySyncTest, ADatabaseThatHasLostChangesGetsThemAgain) {
  authorize(sides_[0], "gpu-1", "10.0.0.1");
  authorize(sides_[0], "gpu-2", "10.0.0.2");
  for (int i : {0, 1}) EXPECT_EQ(step(sides_[i]), "");
  auto database = Database::open(history_.place());
  ASSERT_TRUE(database->execute("CREATE TABLE backup AS SELECT * FROM pingloom_keys"));
  revoke(sides_[1], "gpu-1");
  authorize(sides_[1], "gpu-3", "10.0.0.3");
  EXPECT_EQ(step(sides_[1]), "");
  // The other one has not heard of it, and goes on with what the database has now.
  ASSERT_TRUE(database->execute(
      "DELETE FROM pingloom_keys; INSERT INTO pingloom_keys SELECT * FROM backup"));
  authorize(sides_[0], "gpu-4", "10.0.0.4");
  for (int i : {0, 1, 0}) EXPECT_EQ(step(sides_[i], i == 0), "");
  EXPECT_THAT(hosts(sides_[0]), ElementsAre("gpu-2", "gpu-3", "gpu-4"));
  EXPECT_THAT(hosts(sides_[1]), ElementsAre("gpu-2", "gpu-3", "gpu-4"));
}

TEST_F(KeySyncTest, WithoutAFolderForTheCommonStateNothingIsShared) {
  authorize(sides_[0], "gpu-1", "10.0.0.1");
  std::ofstream(keys::sharedFolder(sides_[0].list)) << "a file is in its place";
  EXPECT_NE(step(sides_[0]), "");
  EXPECT_NE(step(sides_[0]), "");
  EXPECT_EQ(step(sides_[1]), "");
  EXPECT_THAT(hosts(sides_[1]), IsEmpty());
}

TEST_F(KeySyncTest, AnotherInstallationsKeysAreNotTaken) {
  authorize(sides_[0], "gpu-1", "10.0.0.1");
  EXPECT_EQ(step(sides_[0]), "");
  auto database = Database::open(history_.place());
  ASSERT_TRUE(database->execute("UPDATE pingloom_cluster SET installation = 'another'"));
  restart(sides_[1]);
  EXPECT_THAT(step(sides_[1]), HasSubstr("another installation"));
  EXPECT_THAT(hosts(sides_[1]), IsEmpty());
}

TEST_F(KeySyncTest, OneWithoutASessionChangesNothing) {
  authorize(sides_[0], "gpu-1", "10.0.0.1");
  sides_[0].lease->leave();
  sides_[0].fence->set({}, 0);
  EXPECT_THAT(step(sides_[0]), HasSubstr("no session"));
  EXPECT_EQ(step(sides_[1]), "");
  EXPECT_THAT(hosts(sides_[1]), IsEmpty());
  EXPECT_THAT(hosts(sides_[0]), ElementsAre("gpu-1"));
}

TEST_F(KeySyncTest, WhatIsNoListIsRefusedAndTheFilesStay) {
  authorize(sides_[0], "gpu-1", "10.0.0.1");
  for (int i : {0, 1}) EXPECT_EQ(step(sides_[i]), "");
  auto database = Database::open(history_.place());
  ASSERT_TRUE(database->execute("UPDATE pingloom_keys SET id = 'x', authorized = '{'"));
  EXPECT_THAT(step(sides_[1]), HasSubstr("pingloom_keys"));
  EXPECT_THAT(hosts(sides_[1]), ElementsAre("gpu-1"));
}

}  // namespace
}  // namespace pingloom::controller::key_sync_test
