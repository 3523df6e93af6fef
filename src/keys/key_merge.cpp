#include "keys/key_merge.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pingloom::keys {
namespace {

template <typename Item>
using ByKey = std::unordered_map<net::CurveKey, const Item*, net::CurveKeyHash>;

const net::CurveKey& keyOf(const AuthorizedKey& entry) { return entry.key; }
const net::CurveKey& keyOf(const KnownToken& token) { return token.key; }
const net::CurveKey& keyOf(const WaitingKey& waiting) { return waiting.entry.key; }

template <typename Item>
ByKey<Item> byKey(const std::vector<Item>& items) {
  ByKey<Item> made;
  for (const Item& item : items) made.emplace(keyOf(item), &item);
  return made;
}

template <typename Item>
const Item* find(const ByKey<Item>& items, const net::CurveKey& key) {
  const auto found = items.find(key);
  return found == items.end() ? nullptr : found->second;
}

bool same(const AuthorizedKey& a, const AuthorizedKey& b) { return yamlOf(a, "") == yamlOf(b, ""); }
bool same(const WaitingKey& a, const WaitingKey& b) {
  return a.rejected == b.rejected && a.asked_utc == b.asked_utc && a.why == b.why &&
         same(a.entry, b.entry);
}

// Both have an entry of the same key, and they differ.
template <typename Item>
Item resolved(const Item* base, const Item& mine, const Item& theirs) {
  return base != nullptr && same(*base, theirs) ? mine : theirs;
}
KnownToken resolved(const KnownToken* base, const KnownToken& mine, const KnownToken& theirs) {
  KnownToken made = theirs;
  if (base == nullptr) {
    made.used = std::max(mine.used, theirs.used);
  } else if (mine.used > base->used) {
    made.used = theirs.used + (mine.used - base->used);
  }
  return made;
}

// Keeps the order of `theirs`; what only `mine` has follows.
template <typename Item>
std::vector<Item> merged(const std::vector<Item>& base_items, const std::vector<Item>& mine_items,
                         const std::vector<Item>& their_items) {
  const auto base = byKey(base_items);
  const auto mine = byKey(mine_items);
  const auto theirs = byKey(their_items);
  std::vector<Item> made;
  for (const Item& item : their_items) {
    const Item* before = find(base, keyOf(item));
    const Item* own = find(mine, keyOf(item));
    // What one has removed is removed, also if the other has changed it meanwhile.
    if (own == nullptr && before != nullptr) continue;
    made.push_back(own == nullptr ? item : resolved(before, *own, item));
  }
  for (const Item& item : mine_items) {
    const bool theirs_has = find(theirs, keyOf(item)) != nullptr;
    if (!theirs_has && find(base, keyOf(item)) == nullptr) made.push_back(item);
  }
  return made;
}

}  // namespace

Result<KeySet> mergeKeys(const KeySet& base, const KeySet& mine, const KeySet& theirs) {
  // They were merged before, so no use of a token counts again.
  if (mine.sameAs(theirs)) return theirs;
  KeySet made;
  for (AuthorizedKey& entry :
       merged(base.authorized.entries(), mine.authorized.entries(), theirs.authorized.entries())) {
    if (auto status = made.authorized.add(std::move(entry)); !status) {
      return tl::unexpected(status.error());
    }
  }
  made.book.tokens = merged(base.book.tokens, mine.book.tokens, theirs.book.tokens);
  made.book.requests = merged(base.book.requests, mine.book.requests, theirs.book.requests);
  // A key that one has approved does not wait any more at the other.
  std::erase_if(made.book.requests, [&](const WaitingKey& waiting) {
    return made.authorized.find(waiting.entry.key) != nullptr;
  });
  return made;
}

}  // namespace pingloom::keys
