// What is known about stores as JSON, for HTTP and for the command `pingloom dta`, which also reads
// files itself. docs/dta.md describes the members. Any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "store/store_view.h"

namespace pingloom::collector {

// Describes the store, its writer and its tables. `connected` is null if that is not known.
nlohmann::ordered_json storeJson(const store::StoreView& view, std::string_view translator,
                                 std::optional<bool> connected, Nanos now_utc);

struct NamedView {
  std::string_view translator;
  const store::StoreView* view = nullptr;
};

// Whether the writer has not shown itself for kStaleAfter.
bool isStale(const store::StoreView& view, Nanos now_utc);
// By how much a count of this store may be too large (countErrorBound()); 0 if no writer has
// written. REQUIRES: a table of counters of the store.
double countError(const store::StoreView& view, const store::Table& table);
// The time at which something of this age was stored, as text. It is counted in the store's own
// ticks, so that it does not depend on when it is asked for.
std::string writtenText(const store::StoreView& view, Nanos age, Nanos now_utc);

// Looks the key up in each store that has the table. The answer is the value that was stored last;
// its member `value` is null if no store has the key. An error if no store has the table.
Result<nlohmann::ordered_json> getJson(std::span<const NamedView> stores, std::string_view table,
                                       std::string_view key, Nanos now_utc);

// The sum of the key's counts in all stores that have the table, and by how much it may be too
// large. An error if no store has the table.
Result<nlohmann::ordered_json> countJson(std::span<const NamedView> stores, std::string_view table,
                                         std::string_view key, Nanos now_utc);

}  // namespace pingloom::collector
