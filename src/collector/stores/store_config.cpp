#include "collector/stores/store_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/config_reader.h"
#include "keys/key_config.h"
#include "store/name_config.h"

namespace pingloom::collector {
namespace {

Status readStoreTables(const yaml::Node& node, StoreSpec& spec) {
  StoreTables tables;
  if (auto status = readTables(node, tables); !status) return status;
  spec.tables = std::move(tables.specs);
  spec.watched = std::move(tables.watched);
  return {};
}

Status readTranslatorKey(const yaml::Node& node, StoreSpec& spec) {
  const auto key = keys::readPublicKey(node);
  if (!key) return tl::unexpected(key.error());
  spec.key = *key;
  return {};
}

template <auto kMember>
Status readKeys(const yaml::Node& node, StoreSpec& spec) {
  const auto items = node.items();
  if (!node.isSequence() || items.empty() || items.size() > kMaxKeys) {
    return node.error(fmt::format("expected a list of 1 to {} public keys", kMaxKeys));
  }
  for (const yaml::Node& item : items) {
    const auto key = keys::readPublicKey(item);
    if (!key) return tl::unexpected(key.error());
    (spec.*kMember).push_back(*key);
  }
  return {};
}

constexpr auto kStoreKeys = std::to_array<ConfigKey<StoreSpec>>({
    {"translator", [](const yaml::Node& node,
                      StoreSpec& spec) { return store::readName(node, spec.translator); }},
    {"file", readField<&StoreSpec::file>},
    {"key", readTranslatorKey},
    {"shared", readField<&StoreSpec::shared>},
    {"writers", readKeys<&StoreSpec::writers>},
    {"readers", readKeys<&StoreSpec::readers>},
    {"tables", readStoreTables},
});

// Makes the tables of a shared store shared ones, and checks what it may have.
Status share(const yaml::Node& node, StoreSpec& spec) {
  if (!spec.shared && !spec.writers.empty()) {
    return node.find("writers")->error(
        "only a store with 'shared: true' has several; write 'key: PUBLIC_KEY'");
  }
  if (spec.shared && spec.key) {
    return node.find("key")->error("a shared store has 'writers: [PUBLIC_KEY, ...]' instead");
  }
  for (store::TableSpec& table : spec.tables) {
    if (spec.shared && table.kind != store::TableKind::kCounters) {
      return node.find("tables")->error("a shared store has tables of counters only, and table " +
                                        table.name + " is not one");
    }
    table.shared = spec.shared;
  }
  return {};
}

Status readStore(const yaml::Node& node, StoreSpec& spec) {
  if (auto status = readMap(node, kStoreKeys, spec); !status) return status;
  if (spec.translator.empty() || spec.tables.empty()) {
    return node.error("write { translator: NAME, tables: [...] }");
  }
  if (auto status = share(node, spec); !status) return status;
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
