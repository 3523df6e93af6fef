// Looks paths up in several stores. Plain values and pure functions; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/stores/store_document.h"
#include "common/address.h"
#include "common/error.h"

namespace pingloom::collector {

// Which paths are wanted: that of a key, or those of UDP flows between two hosts.
struct PathQuestion {
  std::string table;                         // "" stands for all tables of paths
  std::vector<std::uint8_t> key;             // empty: the members below count
  IpAddress source, destination;             // of the same family
  std::optional<std::uint16_t> source_port;  // nullopt: all those of RoCE, 49152 to 65535
};

// The flows that are looked for go to this port.
constexpr std::uint16_t kPathPort = 4791;
// A search for all source ports is refused beyond so many tables, because each of them costs
// milliseconds.
constexpr std::size_t kMaxPathTables = 8;

// Builds the question from texts, of which empty ones were not given. The error says what is wrong.
struct PathTexts {
  std::string table, key, source, destination, source_port;
};
Result<PathQuestion> pathQuestion(const PathTexts& texts);

// Members: paths, each with what was stored last for its key: key, table, translator, complete,
// hops, changes, path, age_seconds, written, stale. An error if no store has such a table.
Result<nlohmann::ordered_json> pathJson(std::span<const NamedView> stores,
                                        const PathQuestion& question, Nanos now_utc);

}  // namespace pingloom::collector
