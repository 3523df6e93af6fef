#include "controller/cluster/lease_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "controller/cluster/cluster_tables.h"
#include "controller/history/ledger_tables.h"

namespace pingloom::controller {
namespace {

constexpr const char* kDatabaseUtc = "(extract(epoch FROM clock_timestamp()) * 1000000000)::bigint";

std::string withClock(std::string_view sql) {
  std::string made(sql);
  for (auto at = made.find("NOW_NS"); at != std::string::npos; at = made.find("NOW_NS", at)) {
    made.replace(at, 6, kDatabaseUtc);
  }
  return made;
}

}  // namespace

Result<LeaseStore> LeaseStore::open(const HistoryPlace& place) {
  auto database = Database::open(place);
  if (!database) return tl::unexpected(database.error());
  if (auto status = prepareTables(*database, place); !status) {
    return tl::unexpected(status.error());
  }
  if (auto status = checkCluster(*database, place); !status) return tl::unexpected(status.error());
  LeaseStore made(std::move(*database));
  if (auto status = made.prepare(); !status) return tl::unexpected(status.error());
  return made;
}

Status LeaseStore::prepare() {
  if (auto status = limitStatements(database_); !status) return status;
  auto verdicts = VerdictStore::open(database_);
  if (!verdicts) return tl::unexpected(verdicts.error());
  verdicts_ = std::move(*verdicts);
  if (auto status = addresses_.prepare(database_); !status) return status;
  const std::string lease = std::to_string(kControllerLease);
  const std::string remove_namesake =
      withClock("DELETE FROM pingloom_controllers WHERE name = ?1 AND lease_until_ns < NOW_NS");
  const std::string insert = withClock(
      "INSERT INTO pingloom_controllers(session, name, address, http, agents, lag_ns, "
      "lease_until_ns) SELECT ?1, ?2, ?3, ?4, 0, 0, NOW_NS + " +
      lease + " WHERE (SELECT count(*) FROM pingloom_controllers) < " +
      std::to_string(kMaxMembers) + " ON CONFLICT(name) DO NOTHING");
  const std::string renew = withClock(
      "UPDATE pingloom_controllers SET agents = ?2, lag_ns = ?3, lease_until_ns = NOW_NS + " +
      lease + " WHERE session = ?1");
  const std::string remove_expired =
      withClock("DELETE FROM pingloom_controllers WHERE session <> ?1 AND lease_until_ns < NOW_NS");
  const std::string members = withClock(
      "SELECT c.name, c.address, c.http, c.agents, c.lag_ns, c.lease_until_ns - NOW_NS, c.session, "
      "l.session, l.epoch FROM pingloom_leader l LEFT JOIN pingloom_controllers c ON true ORDER BY "
      "c.name");
  return database_.prepareAll(
      {{&next_session_, "UPDATE pingloom_cluster SET sessions = sessions + 1 RETURNING sessions"},
       {&remove_namesake_, remove_namesake.c_str()},
       {&insert_, insert.c_str()},
       {&renew_, renew.c_str()},
       {&remove_expired_, remove_expired.c_str()},
       {&take_lead_,
        "UPDATE pingloom_leader SET epoch = epoch + 1, session = ?1 WHERE session <> ?1 AND NOT "
        "EXISTS (SELECT 1 FROM pingloom_controllers c WHERE c.session = pingloom_leader.session)"},
       {&has_leader_,
        "SELECT count(*) FROM pingloom_leader l JOIN pingloom_controllers c ON c.session = "
        "l.session"},
       {&members_, members.c_str()},
       {&leave_, "DELETE FROM pingloom_controllers WHERE session = ?1"}});
}

Result<Nanos> LeaseStore::utc() {
  return database_.number(fmt::format("SELECT {}", kDatabaseUtc).c_str());
}

Result<LeaseStore::Joined> LeaseStore::join(const ClusterMember& self) {
  if (auto status = database_.execute("BEGIN"); !status) return tl::unexpected(status.error());
  auto joined = joinInside(self);
  const bool in = joined && joined->session != 0;
  auto ended = database_.execute(in ? "COMMIT" : "ROLLBACK");
  if (in && !ended) return tl::unexpected(ended.error());
  return joined;
}

// The row with the number of sessions lets one controller at a time join.
Result<LeaseStore::Joined> LeaseStore::joinInside(const ClusterMember& self) {
  Joined joined;
  const auto numbered = next_session_.step();
  const std::int64_t session = numbered && *numbered ? next_session_.number(0) : 0;
  next_session_.reset();
  if (!numbered) return tl::unexpected(numbered.error());
  if (auto status = remove_namesake_.bind(1, self.name).run(); !status) {
    return tl::unexpected(status.error());
  }
  auto inserted =
      insert_.bind(1, session).bind(2, self.name).bind(3, self.address).bind(4, self.http).run();
  if (!inserted) return tl::unexpected(inserted.error());
  if (insert_.changed() == 1) {
    joined.session = session;
    return joined;
  }
  const auto present = members();
  if (!present) return tl::unexpected(present.error());
  const auto same = std::find_if(present->list.begin(), present->list.end(),
                                 [&](const ClusterMember& one) { return one.name == self.name; });
  if (same == present->list.end()) {
    return makeError("cluster", fmt::format("has {} controllers, and no room for another one",
                                            present->list.size()));
  }
  joined.other = *same;
  return joined;
}

Result<bool> LeaseStore::renew(std::int64_t session, std::uint64_t agents, Nanos lag) {
  auto status =
      renew_.bind(1, session).bind(2, static_cast<std::int64_t>(agents)).bind(3, lag).run();
  if (!status) return tl::unexpected(status.error());
  return renew_.changed() == 1;
}

Result<std::int64_t> LeaseStore::removeExpired(std::int64_t session) {
  auto status = remove_expired_.bind(1, session).run();
  if (!status) return tl::unexpected(status.error());
  return remove_expired_.changed();
}

Status LeaseStore::takeLead(std::int64_t session) { return take_lead_.bind(1, session).run(); }

Result<bool> LeaseStore::hasLeader() {
  const auto counted = has_leader_.step();
  const bool has = counted && *counted && has_leader_.number(0) != 0;
  has_leader_.reset();
  return counted ? Result<bool>(has) : tl::unexpected(counted.error());
}

Result<LeaseStore::Members> LeaseStore::members() {
  Members found;
  for (;;) {
    const auto more = members_.step();
    if (!more || !*more) {
      members_.reset();
      if (!more) return tl::unexpected(more.error());
      return found;
    }
    found.epoch = members_.number(8);
    if (members_.bytes(0).empty()) continue;  // there is no member
    ClusterMember& one = found.list.emplace_back();
    one.name = members_.bytes(0);
    one.address = members_.bytes(1);
    one.http = members_.bytes(2);
    one.agents = static_cast<std::uint64_t>(members_.number(3));
    one.lag = members_.number(4);
    one.lease_left = members_.number(5);
    one.session = members_.number(6);
    one.leads = members_.number(7) == one.session;
  }
}

Status LeaseStore::writeAddresses(Fence::Held held, const std::vector<SharedAddress>& changes) {
  auto status = database_.execute("BEGIN");
  if (status) status = addresses_.write(held.session, changes);
  if (status) status = database_.execute(fencedCommit(held, Writer::kMember).c_str());
  if (!status && !database_.lost()) (void)database_.execute("ROLLBACK");
  return status;
}

Status LeaseStore::removeOrphans(Fence::Held held, Nanos now_mono) {
  if (auto status = database_.execute("BEGIN"); !status) return status;
  const auto any = addresses_.removeOrphans(now_mono);
  Status status = any ? Status() : tl::unexpected(any.error());
  if (any && *any) status = database_.execute(fencedCommit(held, Writer::kLeader).c_str());
  if (!any || !*any || !status) {
    if (!database_.lost()) (void)database_.execute("ROLLBACK");
  }
  return status;
}

Status LeaseStore::leave(std::int64_t session) { return leave_.bind(1, session).run(); }

}  // namespace pingloom::controller
