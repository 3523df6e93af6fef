#include "controller/cluster/address_store.h"

#include <algorithm>
#include <string>
#include <utility>

#include "control.pb.h"
#include "plan/endpoint_codec.h"

namespace pingloom::controller {

Status AddressStore::prepare(Database& database) {
  const std::string read =
      "SELECT address, session, change, endpoint FROM pingloom_addresses WHERE change > ?1 ORDER "
      "BY "
      "change LIMIT " +
      std::to_string(kMaxRead);
  return database.prepareAll(
      {{&next_change_, "UPDATE pingloom_cluster SET changes = changes + 1 RETURNING changes"},
       {&put_,
        "INSERT INTO pingloom_addresses(address, session, change, endpoint) VALUES(?1, ?2, ?3, ?4) "
        "ON CONFLICT(address) DO UPDATE SET session = excluded.session, change = excluded.change, "
        "endpoint = excluded.endpoint"},
       {&clear_,
        "UPDATE pingloom_addresses SET change = ?3, endpoint = '' WHERE address = ?1 AND session = "
        "?2"},
       {&read_, read.c_str()},
       {&orphans_,
        "SELECT DISTINCT session FROM pingloom_addresses WHERE endpoint <> '' AND session NOT IN "
        "(SELECT session FROM pingloom_controllers)"},
       {&clear_session_,
        // So many that read() takes them at once; the rest follow at the next call.
        "UPDATE pingloom_addresses SET change = ?2, endpoint = '' WHERE address IN (SELECT address "
        "FROM pingloom_addresses WHERE session = ?1 AND endpoint <> '' LIMIT 4000)"}});
}

Result<std::int64_t> AddressStore::nextChange() {
  const auto row = next_change_.step();
  const std::int64_t number = row && *row ? next_change_.number(0) : 0;
  next_change_.reset();
  if (!row) return tl::unexpected(row.error());
  return number;
}

Status AddressStore::write(std::int64_t session, const std::vector<SharedAddress>& changes) {
  const auto number = nextChange();
  if (!number) return tl::unexpected(number.error());
  for (const SharedAddress& change : changes) {
    const std::string address = change.address.wire();
    std::string bytes;
    if (change.endpoint) {
      wire::Endpoint endpoint;
      plan::encode(*change.endpoint, endpoint);
      bytes = endpoint.SerializeAsString();
    }
    Statement& statement = change.endpoint ? put_ : clear_;
    statement.bindBlob(1, address).bind(2, session).bind(3, *number);
    if (change.endpoint) statement.bindBlob(4, bytes);
    if (auto status = statement.queue(); !status) return status;
  }
  return {};
}

// What is in the database has been written by programs of ours, and is checked like anything that
// comes from outside.
Result<std::vector<SharedAddress>> AddressStore::read(std::int64_t session) {
  std::vector<SharedAddress> found;
  std::int64_t rows = 0;
  std::int64_t last = seen_;
  read_.bind(1, seen_);
  for (;;) {
    const auto more = read_.step();
    if (!more || !*more) {
      read_.reset();
      if (!more) return tl::unexpected(more.error());
      // A transaction may be read in part only; it is shorter than what is read at once.
      seen_ = rows == kMaxRead ? last - 1 : last;
      return found;
    }
    ++rows;
    last = read_.number(2);
    const auto address = IpAddress::fromWire(read_.bytes(0));
    if (!address) continue;
    SharedAddress& change = found.emplace_back(SharedAddress{*address, std::nullopt});
    wire::Endpoint in;
    const std::string_view bytes = read_.bytes(3);
    if (read_.number(1) == session || bytes.empty() ||
        !in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      continue;
    }
    auto endpoint = plan::decodeEndpoint(in);
    if (endpoint && endpoint->address == *address) change.endpoint = std::move(*endpoint);
  }
}

Result<bool> AddressStore::removeOrphans(Nanos now_mono) {
  std::map<std::int64_t, Nanos> orphaned;
  for (;;) {
    const auto more = orphans_.step();
    if (!more || !*more) {
      orphans_.reset();
      if (!more) return tl::unexpected(more.error());
      break;
    }
    const std::int64_t session = orphans_.number(0);
    const auto known = orphaned_.find(session);
    orphaned.emplace(session, known == orphaned_.end() ? now_mono : known->second);
  }
  orphaned_ = std::move(orphaned);
  bool any = false;
  for (const auto& [session, since] : orphaned_) {
    if (now_mono - since < kKeepOrphans) continue;
    const auto number = nextChange();
    if (!number) return tl::unexpected(number.error());
    auto status = clear_session_.bind(1, session).bind(2, *number).run();
    if (!status) return tl::unexpected(status.error());
    any = true;
  }
  return any;
}

}  // namespace pingloom::controller
