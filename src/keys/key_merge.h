// Merges what two controllers have done to the same list of keys and join book. What either has
// added or changed takes effect. What either has removed from the list or of the tokens stays
// removed: a removal is remembered, and only an entry that was made later than it comes back. So it
// does not matter in which order controllers hear of each other, nor whether the database has
// forgotten something. If both have changed the same entry, `theirs` counts, except that the uses
// of a token are added up. Plain values; any thread.
//
// Bounds: those of the list, JoinBook::kMaxTokens and kMaxRequests (what is too much is dropped),
// kMaxRemoved removals, the newest ones.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/time.h"
#include "keys/authorized_keys.h"
#include "keys/join_book.h"

namespace pingloom::keys {

// When something was removed, UTC in whole seconds, by "key TEXT" or "token TEXT".
using Removals = std::map<std::string, Nanos>;
constexpr std::size_t kMaxRemoved = AuthorizedKeys::kMaxKeys + JoinBook::kMaxTokens;
constexpr std::size_t kMaxRemovedBytes = 8U << 20;

// One removal a line: when, what.
std::string removalsText(const Removals& removals);
Result<Removals> parseRemovals(std::string_view text);

struct KeySet {
  AuthorizedKeys authorized;
  JoinBook book;
  Removals removed;

  bool sameLists(const KeySet& other) const {
    return authorized.text() == other.authorized.text() && book.text() == other.book.text();
  }
  bool operator==(const KeySet& other) const {
    return sameLists(other) && removed == other.removed;
  }
};

// `base` is the last state that both had, with its removals; `mine.removed` is not used. Returns an
// error if the list would exceed a bound.
Result<KeySet> mergeKeys(const KeySet& base, const KeySet& mine, const KeySet& theirs,
                         Nanos now_utc);

}  // namespace pingloom::keys
