// How two `pingloom read` find each other: what an RC connection needs, asked and answered once
// over TCP; docs/read-exchange.md has the table. Big endian; both ways 128 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pingloom::wire {

enum class ReadExchangeType : std::uint8_t { kRequest = 1, kAnswer = 2 };
enum class ReadExchangeStatus : std::uint8_t {
  kOk = 0,
  kNoRegion = 1,  // no such region
  kFull = 2,      // too many readers
  kDevice = 3,    // no endpoint, or no way to the asker
  kVersion = 4,   // another version was asked for
};

struct ReadExchangeLayout {
  std::uint32_t magic;  // 0x504C5244, "PLRD"
  std::uint8_t version;
  std::uint8_t type;
  std::uint8_t status;  // answer
  std::uint8_t reads;   // READs that this side answers at a time
  std::uint16_t lid;    // InfiniBand; 0 with RoCE
  std::uint16_t reserved;
  std::uint32_t qpn;
  std::array<std::uint8_t, 16> gid;
  std::uint32_t psn;  // of this side's first request
  std::uint32_t mtu;  // the largest path MTU of this side
  // Answer: the region.
  std::uint64_t address;
  std::uint64_t length;
  std::uint64_t pattern;  // the seed of its contents; 0: they are not known
  std::uint32_t rkey;
  std::uint32_t reserved_too;
  std::array<char, 56> text;  // request: the region's name; answer: the device, or what is wrong
};
static_assert(sizeof(ReadExchangeLayout) == 128 && offsetof(ReadExchangeLayout, gid) == 16 &&
              offsetof(ReadExchangeLayout, address) == 40 &&
              offsetof(ReadExchangeLayout, text) == 72);

constexpr std::size_t kReadExchangeBytes = sizeof(ReadExchangeLayout);
constexpr std::size_t kRegionNameBytes = 32;

// Host byte order.
struct ReadExchange {
  ReadExchangeType type = ReadExchangeType::kRequest;
  ReadExchangeStatus status = ReadExchangeStatus::kOk;
  std::uint8_t reads = 0;
  std::uint16_t lid = 0;
  std::uint32_t qpn = 0;
  std::array<std::uint8_t, 16> gid{};
  std::uint32_t psn = 0;
  std::uint32_t mtu = 0;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint64_t pattern = 0;
  std::uint32_t rkey = 0;
  std::string text;  // cut off after 56 bytes
};

std::array<std::uint8_t, kReadExchangeBytes> bytesOf(const ReadExchange& exchange);

enum class ReadExchangeParse : std::uint8_t { kOk, kNone, kVersion };
// The bytes come from outside. kVersion: it is one, of a version that is not ours.
ReadExchangeParse parse(std::span<const std::uint8_t> bytes, ReadExchange& out);

// 1 to 32 of a-z, 0-9, '-', '_', '.'.
bool isRegionName(std::string_view name);

}  // namespace pingloom::wire
