#include "store/name_config.h"

#include "common/config_reader.h"
#include "store/layout.h"

namespace pingloom::store {

Status readName(const yaml::Node& node, std::string& out) {
  if (auto status = readText(node, kMaxTableName, out); !status) return status;
  if (isName(out)) return {};
  return node.error("'" + out + "': a name has the characters a-z, 0-9, _ and -");
}

}  // namespace pingloom::store
