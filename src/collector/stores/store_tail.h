// Reads on in a list of several stores. Plain values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "collector/stores/store_document.h"
#include "common/error.h"
#include "store/list_reader.h"

namespace pingloom::collector {

constexpr std::size_t kMaxTailEntries = 1000;  // of one answer

// Where a reader is in the list of each store. A store that is not in it is read from its oldest
// entry on.
struct TailCursor {
  std::map<std::uint64_t, store::ListCursor> places;  // by Head::store

  // "STORE-BLOCK-ENTRY" in hexadecimal digits for each store, with dots between. "" is empty.
  static Result<TailCursor> parse(std::string_view text);
  std::string text() const;
};

struct TailQuestion {
  std::string table;
  std::uint32_t list = 0;
  TailCursor cursor;
};

// An error if no store has the table with that list.
Status checkTail(std::span<const NamedView> stores, const TailQuestion& question);
// The cursor behind the newest entries. REQUIRES: checkTail().
TailCursor endOfTail(std::span<const NamedView> stores, const TailQuestion& question);

// The entries from the question's cursor on: at most kMaxTailEntries, of each store in their
// order. Members: table, list, entries (translator, entry), lost, cursor. REQUIRES: checkTail().
nlohmann::ordered_json tailJson(std::span<const NamedView> stores, const TailQuestion& question);
// Whether the document has entries or says that some were lost.
bool hasNews(const nlohmann::ordered_json& tail);

}  // namespace pingloom::collector
