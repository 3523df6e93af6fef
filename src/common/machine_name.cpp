#include "common/machine_name.h"

#include <unistd.h>

#include <array>

namespace pingloom {

std::string machineName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "";
  return name.data();
}

}  // namespace pingloom
