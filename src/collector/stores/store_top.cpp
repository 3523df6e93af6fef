#include "collector/stores/store_top.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "store/key_text.h"

namespace pingloom::collector {
namespace {

using TopJson = nlohmann::ordered_json;

// A table of counters in one store.
struct CountersIn {
  const store::StoreView* view = nullptr;
  const store::Table* table = nullptr;
};

using KeyBytes = std::vector<std::uint8_t>;
using KeyCount = std::pair<KeyBytes, std::uint64_t>;

void addSaturated(std::uint64_t& sum, std::uint64_t count) {
  sum += std::min(count, UINT64_MAX - sum);
}

// Keeps the `most` greatest counts, in their order. Equal counts are in the order of their keys.
void keepGreatest(std::vector<KeyCount>& keys, std::size_t most) {
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(std::min(most, keys.size()));
  std::partial_sort(keys.begin(), end, keys.end(), [](const KeyCount& a, const KeyCount& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  keys.erase(end, keys.end());
}

// The keys that writers have published, with their own counts.
std::vector<KeyCount> publishedKeys(const std::vector<CountersIn>& places) {
  std::map<KeyBytes, std::uint64_t> sums;
  for (const CountersIn& place : places) {
    for (const store::TopKey& one : place.view->topKeys(*place.table)) {
      addSaturated(sums[KeyBytes(one.key().begin(), one.key().end())], one.count);
    }
  }
  return {sums.begin(), sums.end()};
}

std::vector<KeyCount> countedKeys(const std::vector<CountersIn>& places, std::size_t limit) {
  std::vector<KeyCount> keys = publishedKeys(places);
  keepGreatest(keys, kMaxTopCandidates);
  for (auto& [key, count] : keys) {
    count = 0;
    for (const CountersIn& place : places)
      addSaturated(count, place.view->count(*place.table, key));
  }
  keepGreatest(keys, limit);
  return keys;
}

}  // namespace

Result<TopJson> topJson(std::span<const NamedView> stores, std::string_view table,
                        std::size_t limit, Nanos now_utc) {
  std::vector<CountersIn> places;
  double error = 0;
  bool stale = false;
  for (const NamedView& one : stores) {
    const store::Table* const found = one.view->findTable(table);
    if (found == nullptr || found->kind != store::TableKind::kCounters) continue;
    places.push_back({one.view, found});
    error += countError(*one.view, *found);
    stale = stale || isStale(*one.view, now_utc);
  }
  if (places.empty()) {
    return makeError("table " + std::string(table), "no store has counters of that name");
  }
  TopJson keys = TopJson::array();
  for (const auto& [key, count] : countedKeys(places, limit)) {
    keys.push_back({{"key", store::keyText(key)}, {"count", count}});
  }
  return TopJson{{"table", table},
                 {"error", error},
                 {"stores", places.size()},
                 {"stale", stale},
                 {"keys", std::move(keys)}};
}

}  // namespace pingloom::collector
