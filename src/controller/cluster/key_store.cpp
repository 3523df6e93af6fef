#include "controller/cluster/key_store.h"

#include <utility>

#include "controller/cluster/cluster_tables.h"

namespace pingloom::controller {
namespace {

constexpr const char* kTable = "the database's pingloom_keys";

// What is in the database has been written by programs of ours, and is checked like anything that
// comes from outside.
Result<keys::KeySet> parsed(const std::string& list, const std::string& joins,
                            const std::string& removed) {
  if (list.size() > keys::AuthorizedKeys::kMaxBytes || joins.size() > keys::JoinBook::kMaxBytes ||
      removed.size() > keys::kMaxRemovedBytes) {
    return makeError(kTable, "is too large");
  }
  auto authorized = keys::AuthorizedKeys::parse(list, kTable);
  if (!authorized) return tl::unexpected(authorized.error());
  auto book = keys::JoinBook::parse(joins, kTable);
  if (!book) return tl::unexpected(book.error());
  auto removals = keys::parseRemovals(removed);
  if (!removals) return tl::unexpected(removals.error());
  return keys::KeySet{std::move(*authorized), std::move(*book), std::move(*removals)};
}

}  // namespace

Result<KeyStore> KeyStore::open(const HistoryPlace& place, const std::string& installation) {
  auto database = Database::open(place);
  if (!database) return tl::unexpected(database.error());
  if (auto status = checkCluster(*database, place); !status) return tl::unexpected(status.error());
  const auto found = installationOf(*database);
  if (!found) return tl::unexpected(found.error());
  if (*found != installation) {
    return makeError(place.text(), "is the database of another installation");
  }
  if (auto status = limitStatements(*database); !status) return tl::unexpected(status.error());
  KeyStore made(std::move(*database));
  auto status = made.database_.prepareAll(
      {{&made.read_, "SELECT id, authorized, joins, removed FROM pingloom_keys WHERE id <> ?1"},
       {&made.write_,
        "UPDATE pingloom_keys SET id = gen_random_uuid()::text, authorized = ?2, joins = ?3, "
        "removed = ?4 WHERE id = ?1 RETURNING id"}});
  if (!status) return tl::unexpected(status.error());
  return made;
}

Result<std::optional<KeyStore::Stored>> KeyStore::read(const std::string& seen) {
  const auto row = read_.bind(1, seen).step();
  if (!row || !*row) {
    read_.reset();
    if (!row) return tl::unexpected(row.error());
    return std::optional<Stored>();
  }
  Stored stored;
  stored.id = read_.bytes(0);
  const std::string list(read_.bytes(1));
  const std::string joins(read_.bytes(2));
  const std::string removed(read_.bytes(3));
  read_.reset();
  if (stored.id.empty()) return std::optional(std::move(stored));
  auto keys = parsed(list, joins, removed);
  if (!keys) return tl::unexpected(keys.error());
  stored.keys = std::move(*keys);
  return std::optional(std::move(stored));
}

Result<std::optional<std::string>> KeyStore::write(const std::string& seen,
                                                   const keys::KeySet& keys, Fence::Held held) {
  if (held.session == 0) return makeError(kTable, "this controller has no session at present");
  const std::string list = keys.authorized.text();
  const std::string joins = keys.book.text();
  const std::string removed = keys::removalsText(keys.removed);
  // What the others would refuse must not get there.
  if (auto valid = parsed(list, joins, removed); !valid) return tl::unexpected(valid.error());
  if (auto status = database_.execute("BEGIN"); !status) return tl::unexpected(status.error());
  std::optional<std::string> id;
  const auto row = write_.bind(1, seen).bind(2, list).bind(3, joins).bind(4, removed).step();
  if (row && *row) id = write_.bytes(0);
  write_.reset();
  Status status = row ? Status() : tl::unexpected(row.error());
  if (id) status = database_.execute(fencedCommit(held, Writer::kMember).c_str());
  if ((!id || !status) && !database_.lost()) (void)database_.execute("ROLLBACK");
  if (!status) return tl::unexpected(status.error());
  return id;
}

}  // namespace pingloom::controller
