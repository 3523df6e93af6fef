#include "keys/key_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/text.h"

namespace pingloom::keys {
namespace {

template <typename Item>
using ByKey = std::unordered_map<net::CurveKey, const Item*, net::CurveKeyHash>;

const net::CurveKey& keyOf(const AuthorizedKey& entry) { return entry.key; }
const net::CurveKey& keyOf(const KnownToken& token) { return token.key; }
const net::CurveKey& keyOf(const WaitingKey& waiting) { return waiting.entry.key; }

std::string nameOf(const AuthorizedKey& entry) { return fmt::format("key {}", entry.key.text()); }
std::string nameOf(const KnownToken& token) { return fmt::format("token {}", token.key.text()); }

// When it was made, in whole seconds; 0 if nobody knows.
Nanos madeAt(const AuthorizedKey& entry) { return parseUtc(entry.added).value_or(0); }
Nanos madeAt(const KnownToken& token) { return token.created_utc / kSecond * kSecond; }

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
bool same(const KnownToken& a, const KnownToken& b) {  // but for its uses so far
  return a.name == b.name && a.expires_utc == b.expires_utc && a.uses == b.uses &&
         a.role == b.role && a.manual == b.manual;
}
bool same(const WaitingKey& a, const WaitingKey& b) {
  return a.rejected == b.rejected && a.asked_utc == b.asked_utc && a.why == b.why &&
         same(a.entry, b.entry);
}

// Both have an entry of the same key.
template <typename Item>
Item resolved(const Item* base, const Item& mine, const Item& theirs) {
  return base != nullptr && same(*base, theirs) ? mine : theirs;
}
KnownToken resolved(const KnownToken* base, const KnownToken& mine, const KnownToken& theirs) {
  KnownToken made = base != nullptr && same(*base, theirs) ? mine : theirs;
  const std::uint64_t here = base != nullptr && mine.used > base->used ? mine.used - base->used : 0;
  const std::uint64_t used =
      base != nullptr ? theirs.used + here : std::max(mine.used, theirs.used);
  made.used = std::min(used, KnownToken::kMaxUses);
  return made;
}

// `made_here`: somebody has made it on this side since the common state, so that a removal in the
// same second was before.
template <typename Item>
bool isRemoved(const Removals& removals, const Item& item, bool made_here) {
  const auto found = removals.find(nameOf(item));
  if (found == removals.end()) return false;
  return made_here ? madeAt(item) < found->second : madeAt(item) <= found->second;
}

// Notes what was in the common state and is not here any more.
template <typename Item>
void noteRemoved(const std::vector<Item>& base, const std::vector<Item>& mine, Nanos now,
                 Removals& removals) {
  const auto left = byKey(mine);
  for (const Item& item : base) {
    if (find(left, keyOf(item)) != nullptr) continue;
    Nanos& when = removals[nameOf(item)];
    when = std::max({when, now, madeAt(item)});  // another clock may be ahead
  }
}

// Keeps the order of `theirs`; what only `mine` has follows.
template <typename Item>
std::vector<Item> merged(const std::vector<Item>& base_items, const std::vector<Item>& mine_items,
                         const std::vector<Item>& their_items, const Removals& removals) {
  const auto base = byKey(base_items);
  const auto mine = byKey(mine_items);
  const auto theirs = byKey(their_items);
  std::vector<Item> made;
  for (const Item& item : their_items) {
    const Item* own = find(mine, keyOf(item));
    const Item* before = find(base, keyOf(item));
    if (isRemoved(removals, own == nullptr ? item : *own, own != nullptr && before == nullptr)) {
      continue;
    }
    made.push_back(own == nullptr ? item : resolved(before, *own, item));
  }
  for (const Item& item : mine_items) {
    if (find(theirs, keyOf(item)) != nullptr) continue;
    if (!isRemoved(removals, item, find(base, keyOf(item)) == nullptr)) made.push_back(item);
  }
  return made;
}

// Requests are not remembered once they are gone: whoever asks again is heard again.
std::vector<WaitingKey> mergedRequests(const JoinBook& base_book, const JoinBook& mine_book,
                                       const JoinBook& their_book, const AuthorizedKeys& list) {
  const auto base = byKey(base_book.requests);
  const auto mine = byKey(mine_book.requests);
  const auto theirs = byKey(their_book.requests);
  std::vector<WaitingKey> made;
  for (const WaitingKey& waiting : their_book.requests) {
    const WaitingKey* own = find(mine, keyOf(waiting));
    const WaitingKey* before = find(base, keyOf(waiting));
    if (own != nullptr) made.push_back(resolved(before, *own, waiting));
    if (own == nullptr && before == nullptr) made.push_back(waiting);
  }
  for (const WaitingKey& waiting : mine_book.requests) {
    const bool is_new = find(base, keyOf(waiting)) == nullptr;
    if (find(theirs, keyOf(waiting)) == nullptr && is_new) made.push_back(waiting);
  }
  // A key that one has approved does not wait any more at the other.
  std::erase_if(made, [&](const WaitingKey& each) { return list.find(keyOf(each)) != nullptr; });
  if (made.size() > JoinBook::kMaxRequests) {
    made.erase(made.begin() + JoinBook::kMaxRequests, made.end());
  }
  return made;
}

void keepNewest(Removals& removals) {
  if (removals.size() <= kMaxRemoved) return;
  std::vector<std::pair<Nanos, std::string>> oldest;
  for (const auto& [name, when] : removals) oldest.emplace_back(when, name);
  std::sort(oldest.begin(), oldest.end());
  oldest.resize(removals.size() - kMaxRemoved);
  for (const auto& [when, name] : oldest) removals.erase(name);
}

Removals removalsOf(const KeySet& base, const KeySet& mine, const KeySet& theirs, Nanos now) {
  Removals made = base.removed;
  for (const auto& [name, when] : theirs.removed) {
    Nanos& known = made[name];
    known = std::max(known, when);
  }
  noteRemoved(base.authorized.entries(), mine.authorized.entries(), now, made);
  noteRemoved(base.book.tokens, mine.book.tokens, now, made);
  return made;
}

}  // namespace

std::string removalsText(const Removals& removals) {
  std::string text;
  for (const auto& [name, when] : removals) text += formatUtc(when) + ' ' + name + '\n';
  return text;
}

Result<Removals> parseRemovals(std::string_view text) {
  Removals made;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto blank = line.find(' ');
    const auto when = parseUtc(line.substr(0, blank));
    if (blank == line.npos || !when || made.size() >= kMaxRemoved) {
      return makeError("removed keys", "has a line that is no removal, or too many");
    }
    made.emplace(line.substr(blank + 1), *when);
  }
  return made;
}

Result<KeySet> mergeKeys(const KeySet& base, const KeySet& mine, const KeySet& theirs,
                         Nanos now_utc) {
  KeySet made;
  made.removed = removalsOf(base, mine, theirs, now_utc / kSecond * kSecond);
  if (mine.sameLists(theirs)) {
    // They were merged before, so no use of a token counts again.
    made.authorized = theirs.authorized;
    made.book = theirs.book;
  } else {
    for (AuthorizedKey& entry : merged(base.authorized.entries(), mine.authorized.entries(),
                                       theirs.authorized.entries(), made.removed)) {
      if (auto status = made.authorized.add(std::move(entry)); !status) {
        return tl::unexpected(status.error());
      }
    }
    made.book.tokens = merged(base.book.tokens, mine.book.tokens, theirs.book.tokens, made.removed);
    if (made.book.tokens.size() > JoinBook::kMaxTokens) {
      made.book.tokens.erase(made.book.tokens.begin() + JoinBook::kMaxTokens,
                             made.book.tokens.end());
    }
    made.book.requests = mergedRequests(base.book, mine.book, theirs.book, made.authorized);
  }
  // What was made anew after it had been removed is not removed any more.
  for (const AuthorizedKey& entry : made.authorized.entries()) made.removed.erase(nameOf(entry));
  for (const KnownToken& token : made.book.tokens) made.removed.erase(nameOf(token));
  keepNewest(made.removed);
  if (made.authorized.text().size() > AuthorizedKeys::kMaxBytes ||
      made.book.text().size() > JoinBook::kMaxBytes) {
    return makeError("keys", "the lists of all controllers together have more than 16 MiB");
  }
  return made;
}

}  // namespace pingloom::keys
