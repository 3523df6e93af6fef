#include "translator/reporter_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "common/config_reader.h"
#include "keys/reporter_key.h"
#include "store/layout.h"
#include "translator/table_name.h"

namespace pingloom::translator {
namespace {

Status readTables(const yaml::Node& node, ReporterSpec& spec) {
  const auto items = node.items();
  if (!node.isSequence() || items.empty() || items.size() > store::kMaxTables) {
    return node.error(
        fmt::format("expected a list of 1 to {} names or numbers of tables", store::kMaxTables));
  }
  for (const yaml::Node& item : items) {
    if (auto read = readTable(item, spec.tables.emplace_back()); !read) return read;
  }
  return {};
}

constexpr auto kReporterKeys = std::to_array<ConfigKey<ReporterSpec>>({
    {"id", [](const yaml::Node& node,
              ReporterSpec& spec) { return readNumber(node, 0, UINT32_MAX, spec.id); }},
    {"addresses", readField<&ReporterSpec::addresses>},
    {"key", readField<&ReporterSpec::key_file>},
    {"tables", readTables},
});

Status readReporter(const yaml::Node& node, ReporterSpec& spec) {
  if (auto status = readMap(node, kReporterKeys, spec); !status) return status;
  if (node.find("id")) return {};
  return node.error("'id' is missing: write { id: NUMBER, addresses: [...], key: FILE }");
}

template <std::size_t kOperation>
Status readPublishedTable(const yaml::Node& node, PublishedSpec& spec) {
  return readTable(node, spec.tables[kOperation]);
}

// In the order of the operations' numbers.
constexpr auto kPublishedTables = std::to_array<ConfigKey<PublishedSpec>>({
    {"key-write", readPublishedTable<0>},
    {"append", readPublishedTable<1>},
    {"increment", readPublishedTable<2>},
    {"postcard", readPublishedTable<3>},
});
static_assert(kPublishedTables.size() == wire::kReportOperations);

constexpr auto kPublishedKeys = std::to_array<ConfigKey<PublishedSpec>>({
    {"listen", readField<&PublishedSpec::listen>},
    {"addresses", readField<&PublishedSpec::addresses>},
    {"tables", [](const yaml::Node& node,
                  PublishedSpec& spec) { return readMap(node, kPublishedTables, spec); }},
});

}  // namespace

Status readValue(const yaml::Node& node, ReporterSpecs& out) {
  const auto items = node.items();
  if (!node.isSequence() || items.empty() || items.size() > kMaxReporterSpecs) {
    return node.error(fmt::format("expected a list of 1 to {} reporters", kMaxReporterSpecs));
  }
  std::unordered_set<std::uint32_t> known;
  for (const yaml::Node& item : items) {
    ReporterSpec spec;
    if (auto status = readReporter(item, spec); !status) return status;
    if (!known.insert(spec.id).second) {
      return item.error(fmt::format("the reporter {} is here twice", spec.id));
    }
    out.push_back(std::move(spec));
  }
  return {};
}

Status readValue(const yaml::Node& node, PublishedSpec& out) {
  if (auto status = readMap(node, kPublishedKeys, out); !status) return status;
  const bool some = std::any_of(out.tables.begin(), out.tables.end(),
                                [](const std::string& table) { return !table.empty(); });
  if (some) return {};
  return node.error("'tables' is missing: write { listen: ADDRESS, tables: { key-write: NAME } }");
}

Status loadReporterKeys(ReporterSpecs& specs) {
  for (ReporterSpec& spec : specs) {
    if (spec.key_file.empty()) continue;
    const auto key = keys::readReporterKey(spec.key_file);
    if (!key) return tl::unexpected(key.error());
    spec.key = *key;
  }
  return {};
}

}  // namespace pingloom::translator
