#include "translator/table_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/log.h"

namespace pingloom::translator {

Status readTable(const yaml::Node& node, std::string& out) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (!store::isName(*text)) return node.error("expected the name or the number of a table");
  out = *text;
  return {};
}

std::optional<std::uint16_t> numberOf(const std::string& table, const store::Head& head) {
  const auto find = [&](const auto& matches) {
    return std::find_if(head.tables.begin(), head.tables.end(), matches);
  };
  auto found = find([&](const store::Table& one) { return one.name == table; });
  if (found == head.tables.end()) {
    found = find([&](const store::Table& one) { return std::to_string(one.id) == table; });
  }
  if (found == head.tables.end()) return std::nullopt;
  return found->id;
}

void warnOfUnknown(std::string_view section, const std::set<std::string>& tables) {
  constexpr std::size_t kShown = 8;
  if (tables.empty()) return;
  std::string names;
  std::size_t shown = 0;
  for (const std::string& table : tables) {
    if (shown++ == kShown) break;
    names += (names.empty() ? "" : ", ") + table;
  }
  if (tables.size() > kShown) names += fmt::format(" and {} more", tables.size() - kShown);
  log::warning("'{}' names tables that the store does not have: {}", section, names);
}

}  // namespace pingloom::translator
