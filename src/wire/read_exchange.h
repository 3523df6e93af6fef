// The request and answer with which two `pingloom read` agree on an RC connection over TCP;
// docs/read-exchange.md has the table. Big endian; both have 128 bytes.
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
  kNoRegion = 1,  // there is no such region
  kFull = 2,      // too many readers
  kDevice = 3,    // no endpoint could be created, or no route to the client
  kVersion = 4,   // the request has another version
};

struct ReadExchangeLayout {
  std::uint32_t magic;  // 0x504C5244, "PLRD"
  std::uint8_t version;
  std::uint8_t type;
  std::uint8_t status;  // in an answer
  std::uint8_t reads;   // maximum READs in flight towards this side
  std::uint16_t lid;    // used by InfiniBand; 0 with RoCE
  std::uint16_t reserved;
  std::uint32_t qpn;
  std::array<std::uint8_t, 16> gid;
  std::uint32_t psn;  // PSN of this side's first request
  std::uint32_t mtu;  // maximum path MTU of this side
  // In an answer these describe the region.
  std::uint64_t address;
  std::uint64_t length;
  std::uint64_t pattern;  // seed of the contents; 0 if they are unknown
  std::uint32_t rkey;
  std::uint32_t reserved_too;
  // the region's name in a request; the device or the fault in an answer
  std::array<char, 56> text;
};
static_assert(sizeof(ReadExchangeLayout) == 128 && offsetof(ReadExchangeLayout, gid) == 16 &&
              offsetof(ReadExchangeLayout, address) == 40 &&
              offsetof(ReadExchangeLayout, text) == 72);

constexpr std::size_t kReadExchangeBytes = sizeof(ReadExchangeLayout);
constexpr std::size_t kRegionNameBytes = 32;

// The parsed message in host byte order.
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
  std::string text;  // truncated to 56 bytes
};

std::array<std::uint8_t, kReadExchangeBytes> bytesOf(const ReadExchange& exchange);

enum class ReadExchangeParse : std::uint8_t { kOk, kNone, kVersion };
// The bytes come from outside. kVersion means that the message has another version.
ReadExchangeParse parse(std::span<const std::uint8_t> bytes, ReadExchange& out);

// Tells whether a name has 1 to 32 of the characters a-z, 0-9, '-', '_', '.'.
bool isRegionName(std::string_view name);

}  // namespace pingloom::wire
