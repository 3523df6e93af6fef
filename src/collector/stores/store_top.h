// The most counted keys of a table of counters in all stores, for HTTP and for `pingloom dta top`.
// docs/dta.md describes the members. Any thread.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "collector/stores/store_document.h"
#include "common/error.h"
#include "common/time.h"

namespace pingloom::collector {

constexpr std::size_t kTopLimit = 20;  // keys, unless asked for otherwise
constexpr std::size_t kMaxTopLimit = 1000;

// Returns at most `limit` keys, the most counted first. The writers of the stores say which keys
// these may be; the counts are what countJson() returns. An error if no store has the table. With
// many stores, the kMaxTopCandidates keys that their writers have counted most are looked at.
constexpr std::size_t kMaxTopCandidates = 4096;
Result<nlohmann::ordered_json> topJson(std::span<const NamedView> stores, std::string_view table,
                                       std::size_t limit, Nanos now_utc);

}  // namespace pingloom::collector
