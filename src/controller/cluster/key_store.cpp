#include "controller/cluster/key_store.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "controller/cluster/cluster_tables.h"
#include "controller/cluster/lease_store.h"

namespace pingloom::controller {
namespace {

constexpr const char* kTable = "the database's pingloom_keys";

}  // namespace

Result<KeyStore> KeyStore::open(const HistoryPlace& place) {
  auto database = Database::open(place);
  if (!database) return tl::unexpected(database.error());
  if (auto status = checkCluster(*database, place); !status) return tl::unexpected(status.error());
  const auto limits =
      fmt::format("SET statement_timeout = {0}; SET idle_in_transaction_session_timeout = {0}",
                  LeaseStore::kStatementLimitMs);
  if (auto status = database->execute(limits.c_str()); !status) {
    return tl::unexpected(status.error());
  }
  KeyStore made(std::move(*database));
  auto status = made.database_.prepareAll(
      {{&made.read_, "SELECT version, authorized, joins FROM pingloom_keys WHERE version <> ?1"},
       {&made.write_,
        "UPDATE pingloom_keys SET version = ?4, authorized = ?2, joins = ?3 WHERE "
        "version = ?1"}});
  if (!status) return tl::unexpected(status.error());
  return made;
}

// What is in the database has been written by programs of ours, and is checked like anything that
// comes from outside.
Result<std::optional<KeyStore::Stored>> KeyStore::read(std::int64_t seen) {
  const auto row = read_.bind(1, seen).step();
  if (!row || !*row) {
    read_.reset();
    if (!row) return tl::unexpected(row.error());
    return std::optional<Stored>();
  }
  Stored stored;
  stored.version = read_.number(0);
  const std::string list(read_.bytes(1));
  const std::string joins(read_.bytes(2));
  read_.reset();
  if (list.size() > keys::AuthorizedKeys::kMaxBytes || joins.size() > keys::JoinBook::kMaxBytes) {
    return makeError(kTable, "has more than 16 MiB");
  }
  if (stored.version == 0) return std::optional(std::move(stored));
  auto authorized = keys::AuthorizedKeys::parse(list, kTable);
  if (!authorized) return tl::unexpected(authorized.error());
  auto book = keys::JoinBook::parse(joins, kTable);
  if (!book) return tl::unexpected(book.error());
  stored.keys = {std::move(*authorized), std::move(*book)};
  return std::optional(std::move(stored));
}

Result<bool> KeyStore::write(std::int64_t seen, std::int64_t next, const keys::KeySet& keys,
                             Fence::Held held) {
  if (held.session == 0) return makeError(kTable, "this controller has no session at present");
  if (auto status = database_.execute("BEGIN"); !status) return tl::unexpected(status.error());
  const std::string list = keys.authorized.text();
  const std::string joins = keys.book.text();
  auto status = write_.bind(1, seen).bind(2, list).bind(3, joins).bind(4, next).run();
  const bool newest = status && write_.changed() == 1;
  if (newest) status = database_.execute(fencedCommit(held, Writer::kMember).c_str());
  if ((!newest || !status) && !database_.lost()) (void)database_.execute("ROLLBACK");
  if (!status) return tl::unexpected(status.error());
  return newest;
}

}  // namespace pingloom::controller
