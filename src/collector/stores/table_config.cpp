#include "collector/stores/table_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/config_reader.h"
#include "common/text.h"
#include "store/key_text.h"
#include "store/name_config.h"

namespace pingloom::collector {
namespace {

constexpr std::uint64_t kMaxTableId = 65535;
// Reports carry numbers of 8 bytes at most.
constexpr std::uint32_t kMaxWatchedBytes = 8;

struct TableConfig {
  store::TableSpec spec;
  std::vector<WatchedKey> watched;
};

// A kind of table, and the keys that it has besides name, id and kind.
struct Kind {
  store::TableKind kind;
  std::vector<std::string_view> needs;
  std::vector<std::string_view> may_have;
  std::string_view example;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {store::TableKind::kKeyed,
       {"slots", "value"},
       {"copies", "watch"},
       "slots: NUMBER, value: BYTES"},
      {store::TableKind::kLists, {"blocks", "entry"}, {"lists"}, "blocks: NUMBER, entry: BYTES"},
      {store::TableKind::kCounters, {"counters"}, {"watch"}, "counters: NUMBER"},
      {store::TableKind::kPaths, {"slots"}, {"family"}, "slots: NUMBER"},
  };
  return all;
}

const Kind& kindOf(const store::TableSpec& spec) {
  return *std::find_if(kinds().begin(), kinds().end(),
                       [&](const Kind& kind) { return kind.kind == spec.kind; });
}

Status readKind(const yaml::Node& node, TableConfig& table) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  std::vector<std::string> known;
  for (const Kind& kind : kinds()) {
    known.emplace_back(store::name(kind.kind));
    if (*text != known.back()) continue;
    table.spec.kind = kind.kind;
    return {};
  }
  return node.error("'" + *text + "' is unknown; a kind is one of: " + join(known, ", "));
}

template <std::uint64_t kMost, auto kMember>
Status readBytes(const yaml::Node& node, TableConfig& table) {
  std::uint64_t bytes = 0;
  Status status = readSize(node, 1, kMost, bytes);
  table.spec.*kMember = static_cast<std::uint32_t>(bytes);
  return status;
}

template <std::uint64_t kLeast, std::uint64_t kMost, auto kMember>
Status readCount(const yaml::Node& node, TableConfig& table) {
  return readNumber(node, kLeast, kMost, table.spec.*kMember);
}

Status readFamily(const yaml::Node& node, TableConfig& table) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (*text != "ipv4" && *text != "ipv6") return node.error("a family is ipv4 or ipv6");
  table.spec.identity_bytes = *text == "ipv4" ? store::kIpv4Bytes : store::kIpv6Bytes;
  return {};
}

Status readWatch(const yaml::Node& node, TableConfig& table) {
  if (!node.isSequence()) return node.error("expected a list of keys");
  for (const yaml::Node& item : node.items()) {
    const auto text = item.text();
    if (!text) return tl::unexpected(text.error());
    auto bytes = store::parseKey(*text);
    if (!bytes) return item.error(bytes.error().text());
    const bool twice = std::any_of(table.watched.begin(), table.watched.end(),
                                   [&](const WatchedKey& key) { return key.text == *text; });
    if (twice) return item.error("'" + *text + "' is here twice");
    table.watched.push_back({"", *text, std::move(*bytes)});
    if (table.watched.size() > kMaxWatchedKeys) return item.error("at most 1,000 keys");
  }
  return {};
}

using Spec = store::TableSpec;
constexpr auto kTableKeys = std::to_array<ConfigKey<TableConfig>>({
    {"name", [](const yaml::Node& node,
                TableConfig& table) { return store::readName(node, table.spec.name); }},
    {"id", readCount<1, kMaxTableId, &Spec::id>},
    {"kind", readKind},
    {"slots", readCount<1, store::kMaxSlots, &Spec::slots>},
    {"value", readBytes<store::kMaxValueBytes, &Spec::value_bytes>},
    {"copies", readCount<1, store::kMaxChoices, &Spec::copies>},
    {"lists", readCount<1, store::kMaxLists, &Spec::lists>},
    {"blocks", readCount<store::kMinBlocks, store::kMaxSlots, &Spec::blocks>},
    {"entry", readBytes<store::kMaxEntryBytes, &Spec::value_bytes>},
    {"counters", readCount<1, store::kMaxSlots, &Spec::counters>},
    {"family", readFamily},
    {"watch", readWatch},
});

Status checkKeys(const yaml::Node& node, const store::TableSpec& spec) {
  const Kind& kind = kindOf(spec);
  const auto has = [](const auto& list, std::string_view key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  constexpr std::size_t kCommon = 3;  // name, id and kind
  for (std::size_t i = kCommon; i < kTableKeys.size(); ++i) {
    const auto key = kTableKeys[i].name;
    const auto found = node.find(key);
    if (found && !has(kind.needs, key) && !has(kind.may_have, key)) {
      return found->error(fmt::format("tables of kind {} have no '{}'; they have {}",
                                      store::name(spec.kind), key, kind.example));
    }
  }
  const bool whole = !spec.name.empty() && spec.id != 0 && node.find("kind") &&
                     std::all_of(kind.needs.begin(), kind.needs.end(),
                                 [&](std::string_view key) { return node.find(key).has_value(); });
  if (whole) return {};
  return node.error(fmt::format("write {{ name: NAME, id: NUMBER, kind: {}, {} }}",
                                store::name(spec.kind), kind.example));
}

Status readTable(const yaml::Node& node, StoreTables& tables) {
  TableConfig table;
  table.spec.lists = 1;
  table.spec.identity_bytes = store::kIpv4Bytes;
  if (auto status = readMap(node, kTableKeys, table); !status) return status;
  if (auto status = checkKeys(node, table.spec); !status) return status;
  if (table.spec.kind != store::TableKind::kLists) table.spec.lists = 0;
  if (table.spec.kind != store::TableKind::kPaths) table.spec.identity_bytes = 0;
  const bool keyed = table.spec.kind == store::TableKind::kKeyed;
  if (keyed && !table.watched.empty() && table.spec.value_bytes > kMaxWatchedBytes) {
    return node.error("only keys with values of 8 bytes or less can be watched, as numbers");
  }
  for (WatchedKey& key : table.watched) {
    key.table = table.spec.name;
    tables.watched.push_back(std::move(key));
  }
  if (tables.watched.size() > kMaxWatchedKeys) {
    return node.error("a store has at most 1,000 watched keys");
  }
  tables.specs.push_back(std::move(table.spec));
  return {};
}

// Checks the name and the number of the latest table. `items` are the nodes of all tables.
Status checkUnique(const std::vector<yaml::Node>& items, const std::vector<Spec>& specs) {
  const std::size_t latest = specs.size() - 1;
  for (std::size_t i = 0; i < latest; ++i) {
    const bool same_name = specs[i].name == specs[latest].name;
    if (!same_name && specs[i].id != specs[latest].id) continue;
    const char* key = same_name ? "name" : "id";
    return items[latest].find(key)->error(fmt::format(
        "table '{}' has the same {}, at {}", specs[i].name, key, items[i].find(key)->place()));
  }
  return {};
}

}  // namespace

Status readTables(const yaml::Node& node, StoreTables& tables) {
  const auto items = node.items();
  if (!node.isSequence() || items.empty() || items.size() > store::kMaxTables) {
    return node.error(fmt::format("expected a list of 1 to {} tables", store::kMaxTables));
  }
  for (const yaml::Node& item : items) {
    if (auto status = readTable(item, tables); !status) return status;
    if (auto status = checkUnique(items, tables.specs); !status) return status;
  }
  // The layout finds stores that are too large.
  const auto head = store::layOut(tables.specs, 0);
  return head ? Status() : node.error(head.error().text());
}

}  // namespace pingloom::collector
