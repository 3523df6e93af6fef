#include "collector/stores/store_paths.h"

#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "common/hex.h"
#include "common/text.h"
#include "store/key_text.h"
#include "store/stamp.h"
#include "store/tuple_key.h"

namespace pingloom::collector {
namespace {

using PathJson = nlohmann::ordered_json;

// The source ports of RoCEv2.
constexpr std::uint16_t kFirstSourcePort = 49'152;
constexpr std::uint16_t kLastSourcePort = 65'535;

struct PathTable {
  NamedView store;
  const store::Table* table = nullptr;
};

std::vector<PathTable> pathTables(std::span<const NamedView> stores, const std::string& name) {
  std::vector<PathTable> tables;
  for (const NamedView& one : stores) {
    for (const store::Table& table : one.view->head().tables) {
      const bool wanted = name.empty() || table.name == name;
      if (wanted && table.kind == store::TableKind::kPaths) tables.push_back({one, &table});
    }
  }
  return tables;
}

PathJson hopsJson(const store::Table& table, const store::Path& path) {
  PathJson hops = PathJson::array();
  const int known = path.hops != 0 ? path.hops : std::bit_width(path.present);
  for (int i = 0; i < known; ++i) {
    const auto index = static_cast<std::size_t>(i);
    if (!path.has(index)) {
      hops.push_back(nullptr);
      continue;
    }
    const auto& hop = path.hop[index];
    const auto address = IpAddress::fromWire(
        {reinterpret_cast<const char*>(hop.identity.data()), table.identity_bytes});
    hops.push_back({{"address", address ? address->text() : ""},
                    {"rtt_seconds", hop.rtt_ns != 0 ? PathJson(hop.rtt_ns / 1e9) : PathJson()}});
  }
  return hops;
}

// Appends the path that was stored last for the key, if there is one.
void addPath(const std::vector<PathTable>& tables, std::span<const std::uint8_t> key, Nanos now_utc,
             PathJson& paths) {
  std::optional<store::FoundPath> newest;
  Nanos newest_age = kNever;
  PathTable where;
  for (const PathTable& one : tables) {
    const auto found = one.store.view->path(*one.table, key);
    if (!found) continue;
    const Nanos age = store::ageOf(found->stamp, now_utc, one.store.view->head().made);
    if (newest && age >= newest_age) continue;
    newest = found;
    newest_age = age;
    where = one;
  }
  if (!newest) return;
  const store::Path& path = newest->path;
  std::string text = store::tupleText(key);
  if (text.empty()) text = "hex:" + hexOf({reinterpret_cast<const char*>(key.data()), key.size()});
  paths.push_back({{"key", text},
                   {"table", where.table->name},
                   {"translator", where.store.translator},
                   {"complete", path.complete()},
                   {"hops", path.hops != 0 ? PathJson(path.hops) : PathJson()},
                   {"changes", path.changes},
                   {"path", hopsJson(*where.table, path)},
                   {"age_seconds", static_cast<double>(newest_age) / 1e9},
                   {"written", writtenText(*where.store.view, newest_age, now_utc)},
                   {"stale", isStale(*where.store.view, now_utc)}});
}

}  // namespace

Result<PathQuestion> pathQuestion(const PathTexts& texts) {
  PathQuestion question;
  question.table = texts.table;
  const bool flow = !texts.source.empty() && !texts.destination.empty();
  const bool no_flow =
      texts.source.empty() && texts.destination.empty() && texts.source_port.empty();
  if (!texts.key.empty() ? !no_flow : !flow) {
    return makeError("path", "say which: a key, or source and destination");
  }
  if (!texts.key.empty()) {
    auto key = store::parseKey(texts.key);
    if (!key) return tl::unexpected(key.error());
    question.key = std::move(*key);
    return question;
  }
  const auto source = IpAddress::parse(texts.source);
  if (!source) return tl::unexpected(source.error());
  const auto destination = IpAddress::parse(texts.destination);
  if (!destination) return tl::unexpected(destination.error());
  if (source->isV4() != destination->isV4()) {
    return makeError("path", "source and destination are both IPv4 or both IPv6");
  }
  question.source = *source;
  question.destination = *destination;
  if (texts.source_port.empty()) return question;
  const auto port = parseUnsigned(texts.source_port, UINT16_MAX);
  if (!port) return makeError("the source port", port.error().reason);
  question.source_port = static_cast<std::uint16_t>(*port);
  return question;
}

Result<PathJson> pathJson(std::span<const NamedView> stores, const PathQuestion& question,
                          Nanos now_utc) {
  const auto tables = pathTables(stores, question.table);
  if (tables.empty()) {
    return makeError("table " + question.table, "no store has a table of paths like that");
  }
  PathJson paths = PathJson::array();
  if (!question.key.empty()) {
    addPath(tables, question.key, now_utc, paths);
    return PathJson{{"paths", std::move(paths)}};
  }
  if (!question.source_port && tables.size() > kMaxPathTables) {
    return makeError("path", fmt::format("there are {} tables of paths; say which table or source "
                                         "port",
                                         tables.size()));
  }
  const std::uint32_t first = question.source_port.value_or(kFirstSourcePort);
  const std::uint32_t last = question.source_port.value_or(kLastSourcePort);
  store::TupleKey tuple;
  tuple.destination = {question.destination, kPathPort};
  for (std::uint32_t port = first; port <= last; ++port) {
    tuple.source = {question.source, static_cast<std::uint16_t>(port)};
    addPath(tables, store::tupleKey(tuple), now_utc, paths);
  }
  return PathJson{{"paths", std::move(paths)}};
}

}  // namespace pingloom::collector
