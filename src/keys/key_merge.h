// Merges what two controllers have done to the same list of keys and join book: additions, removals
// and changes of either since a common state all take effect. If both have changed the same entry,
// `theirs` counts, except that a removal always takes effect, and that the uses of a token are
// added up. Plain values; any thread.
#pragma once

#include "common/error.h"
#include "keys/authorized_keys.h"
#include "keys/join_book.h"

namespace pingloom::keys {

struct KeySet {
  AuthorizedKeys authorized;
  JoinBook book;

  bool sameAs(const KeySet& other) const {
    return authorized.text() == other.authorized.text() && book.text() == other.book.text();
  }
};

// Returns an error if the result would exceed a bound of either.
Result<KeySet> mergeKeys(const KeySet& base, const KeySet& mine, const KeySet& theirs);

}  // namespace pingloom::keys
