#include "common/size.h"

#include <fmt/format.h>

#include <array>

#include "common/text.h"

namespace pingloom {
namespace {

struct SizeUnit {
  std::string_view name;
  int shift;
};
// Largest first: formatSize takes the first that divides. "B" ends the others' names, too, so that
// parseSize has to look for it last.
constexpr std::array<SizeUnit, 5> kSizeUnits = {
    {{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}}};

}  // namespace

Result<std::uint64_t> parseSize(std::string_view text) {
  std::string_view digits = text;
  int shift = 0;
  for (const SizeUnit& unit : kSizeUnits) {
    if (!digits.ends_with(unit.name)) continue;
    digits.remove_suffix(unit.name.size());
    shift = unit.shift;
    break;
  }
  const auto number = parseUnsigned(digits, kMaxSize >> shift);
  if (number) return *number << shift;
  return makeError("'" + std::string(text) + "'",
                   "not a size; write a whole number with B, KiB, MiB, GiB or TiB");
}

std::string formatSize(std::uint64_t bytes, std::string_view blank) {
  for (const SizeUnit& unit : kSizeUnits) {
    const std::uint64_t whole = bytes >> unit.shift;
    if (whole != 0 && whole << unit.shift == bytes) {
      return fmt::format("{}{}{}", whole, blank, unit.name);
    }
  }
  return fmt::format("0{}B", blank);
}

std::string humanBytes(double bytes) {
  for (const SizeUnit& unit : kSizeUnits) {
    const auto size = static_cast<double>(std::uint64_t{1} << unit.shift);
    if (bytes >= size && unit.shift != 0) return fmt::format("{:.2f} {}", bytes / size, unit.name);
  }
  return fmt::format("{:.0f} B", bytes);
}

}  // namespace pingloom
