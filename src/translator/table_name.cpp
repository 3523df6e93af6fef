#include "translator/table_name.h"

#include <algorithm>

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

}  // namespace pingloom::translator
