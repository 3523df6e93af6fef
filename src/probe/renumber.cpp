#include "probe/renumber.h"

namespace pingloom::probe {

std::vector<std::uint32_t> renumber(const plan::AddressList& before,
                                    const plan::AddressList& after) {
  std::vector<std::uint32_t> numbers(before.size(), kGone);
  std::size_t at = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    while (at < after.size() && after[at] < before[i]) ++at;
    if (at < after.size() && after[at] == before[i]) numbers[i] = static_cast<std::uint32_t>(at);
  }
  return numbers;
}

}  // namespace pingloom::probe
