#include "plan/address_range.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

namespace pingloom::plan {
namespace {

constexpr std::uint32_t kDecimalMax = 255;
constexpr std::uint32_t kHexMax = 0xffff;

struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  int base = 10;
};

// "10.[0-3].0.[1-9]" consists of the literals "10.", ".0.", "" around two ranges.
struct Pattern {
  std::vector<std::string> literals;  // has one element more than the ranges
  std::vector<Range> ranges;
};

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

Result<std::uint32_t> parseBound(std::string_view text, int base) {
  const std::uint32_t largest = base == 16 ? kHexMax : kDecimalMax;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const bool whole = end == text.data() + text.size() && !text.empty();
  if (whole && (error == std::errc::result_out_of_range || value > largest)) {
    return makeError(quoted(text), base == 16 ? "the range overflows: the largest part is ffff"
                                              : "the range overflows: the largest part is 255");
  }
  if (!whole || error != std::errc()) {
    return makeError(quoted(text), base == 16 ? "not a hexadecimal number" : "not a number");
  }
  if (base == 10 && text.size() > 1 && text.front() == '0') {
    return makeError(quoted(text), "a number in an address has no leading zero");
  }
  return value;
}

Result<Range> parseRange(std::string_view inner, int base) {
  const auto dash = inner.find('-');
  if (dash == std::string_view::npos) {
    return makeError("[" + std::string(inner) + "]", "a range is [FIRST-LAST]");
  }
  const auto first = parseBound(inner.substr(0, dash), base);
  if (!first) return tl::unexpected(first.error());
  const auto last = parseBound(inner.substr(dash + 1), base);
  if (!last) return tl::unexpected(last.error());
  if (*last < *first) {
    return makeError("[" + std::string(inner) + "]",
                     "the range is reversed: its end is below its start");
  }
  return Range{*first, *last, base};
}

bool endsPart(std::string_view text, std::size_t at) {
  return at >= text.size() || text[at] == '.' || text[at] == ':';
}

Result<Pattern> parsePattern(std::string_view text) {
  Pattern pattern;
  const bool v6 = text.find(':') != std::string_view::npos;
  std::size_t at = 0;
  for (;;) {
    const auto open = text.find('[', at);
    pattern.literals.emplace_back(
        text.substr(at, open == std::string_view::npos ? open : open - at));
    if (open == std::string_view::npos) return pattern;
    const auto close = text.find(']', open);
    if (close == std::string_view::npos) return makeError(quoted(text), "'[' without ']'");
    if ((open > 0 && !endsPart(text, open - 1)) || !endsPart(text, close + 1)) {
      return makeError(quoted(text),
                       "a range stands for a whole part of an address, as in 10.0.0.[3-64]");
    }
    const bool dotted =
        (open > 0 && text[open - 1] == '.') || (close + 1 < text.size() && text[close + 1] == '.');
    auto range = parseRange(text.substr(open + 1, close - open - 1), v6 && !dotted ? 16 : 10);
    if (!range) return tl::unexpected(range.error());
    pattern.ranges.push_back(*range);
    if (pattern.ranges.size() > 8) return makeError(quoted(text), "not an IPv4 or IPv6 address");
    at = close + 1;
  }
}

void appendNumber(std::uint32_t value, int base, std::string& out) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, base).ptr;
  out.append(digits, end);
}

std::string substitute(const Pattern& pattern, const std::vector<std::uint32_t>& values) {
  std::string text = pattern.literals.front();
  for (std::size_t i = 0; i < values.size(); ++i) {
    appendNumber(values[i], pattern.ranges[i].base, text);
    text += pattern.literals[i + 1];
  }
  return text;
}

// Advances to the next combination; the last range varies fastest. Returns false after the last
// one.
bool advance(const Pattern& pattern, std::vector<std::uint32_t>& values) {
  for (std::size_t i = values.size(); i-- > 0;) {
    if (values[i] < pattern.ranges[i].last) {
      ++values[i];
      return true;
    }
    values[i] = pattern.ranges[i].first;
  }
  return false;
}

// Counts combinations up to `enough`, which covers every permitted list and keeps the product from
// overflowing.
std::uint64_t combinations(const Pattern& pattern, std::uint64_t enough) {
  std::uint64_t count = 1;
  for (const Range& range : pattern.ranges) {
    count *= std::uint64_t{range.last} - range.first + 1;
    if (count > enough) return count;
  }
  return count;
}

}  // namespace

std::string ListRoom::exceeded() const {
  return "makes a list of more than " + std::to_string(max) + " addresses";
}

Status expandAddresses(std::string_view text, const ListRoom& room, AddressList& out) {
  const auto pattern = parsePattern(text);
  if (!pattern) return tl::unexpected(pattern.error());
  if (combinations(*pattern, room.left()) > room.left()) {
    return makeError(quoted(text), room.exceeded());
  }
  std::vector<std::uint32_t> values;
  for (const Range& range : pattern->ranges) values.push_back(range.first);
  const std::size_t before = out.size();
  do {
    const auto address = IpAddress::parse(substitute(*pattern, values));
    Status usable = address ? checkProbeable(*address) : Status{};
    if (!address || !usable) {
      out.resize(before);
      if (!usable) return usable;
      return makeError(quoted(text), "not an IPv4 or IPv6 address");
    }
    out.push_back(*address);
  } while (advance(*pattern, values));
  return {};
}

Status checkProbeable(const IpAddress& address) {
  if (address.isUnspecified()) {
    return makeError(address.text(), "the unspecified address cannot be probed");
  }
  const std::uint8_t first = address.bytes()[0];
  const bool multicast = address.isV4() ? (first >= 224 && first < 240) : first == 0xff;
  if (multicast) return makeError(address.text(), "a multicast address cannot be probed");
  if (address.isV4() && address.v4() == 0xffffffff) {
    return makeError(address.text(), "the broadcast address cannot be probed");
  }
  return {};
}

}  // namespace pingloom::plan
