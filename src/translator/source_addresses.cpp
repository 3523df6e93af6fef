#include "translator/source_addresses.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

namespace pingloom::translator {
namespace {

constexpr unsigned kBitsOfV4 = 32;
constexpr unsigned kBitsOfV6 = 128;

unsigned bitsOf(const IpAddress& address) { return address.isV4() ? kBitsOfV4 : kBitsOfV6; }

// Tells whether the first `bits` of both are equal. REQUIRES: both are of the same family.
bool sharePrefix(const IpAddress& a, const IpAddress& b, unsigned bits) {
  const std::size_t whole = bits / 8;
  const auto& left = a.bytes();
  const auto& right = b.bytes();
  if (!std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(whole), right.begin())) {
    return false;
  }
  if (bits % 8 == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff00U >> (bits % 8));
  return ((left[whole] ^ right[whole]) & mask) == 0;
}

bool hasBitsBehind(const IpAddress& address, unsigned bits) {
  for (unsigned bit = bits; bit < bitsOf(address); ++bit) {
    if ((address.bytes()[bit / 8] & (0x80U >> (bit % 8))) != 0) return true;
  }
  return false;
}

}  // namespace

SourceAddresses SourceAddresses::loopback() {
  SourceAddresses made;
  made.blocks_.push_back({IpAddress::fromV4(0x7f000000), 8});
  made.blocks_.push_back({*IpAddress::parse("::1"), kBitsOfV6});
  return made;
}

Status SourceAddresses::add(std::string_view text) {
  const std::string entity(text);
  if (blocks_.size() == kMax) return makeError(entity, fmt::format("more than {} addresses", kMax));
  const auto slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) return makeError(entity, "expected ADDRESS or ADDRESS/BITS");
  unsigned bits = bitsOf(*address);
  if (slash != std::string_view::npos) {
    const std::string_view length = text.substr(slash + 1);
    const char* end = length.data() + length.size();
    const auto [stopped, error] = std::from_chars(length.data(), end, bits);
    if (error != std::errc() || stopped != end || bits > bitsOf(*address)) {
      return makeError(entity, fmt::format("the length of its prefix is not a number up to {}",
                                           bitsOf(*address)));
    }
    if (hasBitsBehind(*address, bits)) {
      return makeError(entity, fmt::format("has bits behind the first {}", bits));
    }
  }
  blocks_.push_back({*address, bits});
  return {};
}

bool SourceAddresses::contains(const IpAddress& address) const {
  return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return block.first.isV4() == address.isV4() && sharePrefix(block.first, address, block.bits);
  });
}

bool SourceAddresses::onlyLoopback() const {
  const SourceAddresses local = loopback();
  return std::all_of(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return std::any_of(local.blocks_.begin(), local.blocks_.end(), [&](const Block& outer) {
      return outer.first.isV4() == block.first.isV4() && block.bits >= outer.bits &&
             sharePrefix(outer.first, block.first, outer.bits);
    });
  });
}

Status readValue(const yaml::Node& node, SourceAddresses& out) {
  const auto items = node.items();
  if (!node.isSequence() || items.empty()) {
    return node.error("expected a list such as [10.0.0.1, 10.1.0.0/16]");
  }
  out = {};
  for (const yaml::Node& item : items) {
    const auto text = item.text();
    if (!text) return tl::unexpected(text.error());
    if (const auto added = out.add(*text); !added) return item.error(added.error().text());
  }
  return {};
}

}  // namespace pingloom::translator
