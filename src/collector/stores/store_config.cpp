#include "collector/stores/store_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/config_reader.h"
#include "keys/key_config.h"
#include "store/name_config.h"

namespace pingloom::collector {
namespace {

constexpr std::uint64_t kMaxTableId = 65535;

Status readKind(const yaml::Node& node, store::TableSpec& table) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (*text != store::name(store::TableKind::kKeyed)) {
    return node.error("'" + *text + "' is unknown; a kind is: keyed");
  }
  table.kind = store::TableKind::kKeyed;
  return {};
}

Status readValueBytes(const yaml::Node& node, store::TableSpec& table) {
  std::uint64_t bytes = 0;
  Status status = readSize(node, 1, store::kMaxValueBytes, bytes);
  table.value_bytes = static_cast<std::uint32_t>(bytes);
  return status;
}

constexpr auto kTableKeys = std::to_array<ConfigKey<store::TableSpec>>({
    {"name", [](const yaml::Node& node,
                store::TableSpec& table) { return store::readName(node, table.name); }},
    {"id", [](const yaml::Node& node,
              store::TableSpec& table) { return readNumber(node, 1, kMaxTableId, table.id); }},
    {"kind", readKind},
    {"slots",
     [](const yaml::Node& node, store::TableSpec& table) {
       return readNumber(node, 1, store::kMaxSlots, table.slots);
     }},
    {"value", readValueBytes},
});

Status checkTableSpec(const yaml::Node& node, const store::TableSpec& table) {
  const bool whole = !table.name.empty() && table.id != 0 && table.slots != 0 &&
                     table.value_bytes != 0 && node.find("kind");
  if (whole) return {};
  return node.error("write { name: NAME, id: NUMBER, kind: keyed, slots: NUMBER, value: BYTES }");
}

Status readTables(const yaml::Node& node, StoreSpec& spec) {
  const auto items = node.items();
  if (!node.isSequence() || items.empty() || items.size() > store::kMaxTables) {
    return node.error(fmt::format("expected a list of 1 to {} tables", store::kMaxTables));
  }
  for (const yaml::Node& item : items) {
    store::TableSpec table;
    if (auto status = readMap(item, kTableKeys, table); !status) return status;
    if (auto status = checkTableSpec(item, table); !status) return status;
    spec.tables.push_back(std::move(table));
  }
  // The layout finds what is there twice, and stores that are too large.
  const auto head = store::layOut(spec.tables, 0);
  return head ? Status() : node.error(head.error().text());
}

Status readTranslatorKey(const yaml::Node& node, StoreSpec& spec) {
  const auto key = keys::readPublicKey(node);
  if (!key) return tl::unexpected(key.error());
  spec.key = *key;
  return {};
}

constexpr auto kStoreKeys = std::to_array<ConfigKey<StoreSpec>>({
    {"translator", [](const yaml::Node& node,
                      StoreSpec& spec) { return store::readName(node, spec.translator); }},
    {"file", readField<&StoreSpec::file>},
    {"key", readTranslatorKey},
    {"tables", readTables},
});

Status readStore(const yaml::Node& node, StoreSpec& spec) {
  if (auto status = readMap(node, kStoreKeys, spec); !status) return status;
  if (spec.translator.empty() || spec.tables.empty()) {
    return node.error("write { translator: NAME, tables: [...] }");
  }
  if (spec.file.empty()) {
    spec.file = std::filesystem::path(kStoreFolder) / (spec.translator + ".store");
  }
  return {};
}

}  // namespace

Status readValue(const yaml::Node& node, StoreSpecs& stores) {
  const auto items = node.items();
  if (!node.isSequence() || items.empty() || items.size() > kMaxStores) {
    return node.error(fmt::format("expected a list of 1 to {} stores", kMaxStores));
  }
  for (const yaml::Node& item : items) {
    StoreSpec spec;
    if (auto status = readStore(item, spec); !status) return status;
    const bool twice = std::any_of(stores.begin(), stores.end(), [&](const StoreSpec& other) {
      return other.translator == spec.translator || other.file == spec.file;
    });
    if (twice) return item.error(spec.translator + " or its file is here twice");
    stores.push_back(std::move(spec));
  }
  return {};
}

}  // namespace pingloom::collector
