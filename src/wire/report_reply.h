// What a translator sends back to a reporter: credit, or the ranges of datagrams that it misses
// (NACK); docs/report-format.md has the table. With a key, a reply is sealed. Big endian. It needs
// nothing but the C++ library, because the report library reads replies. Pure functions; any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/big_endian.h"
#include "wire/report.h"
#include "wire/report_seal.h"

namespace pingloom::wire {

enum class ReportReplyType : std::uint8_t { kCredit = 1, kNack = 2 };

constexpr std::size_t kReportReplyHeadBytes = 24;
constexpr std::size_t kMaxReportRanges = 32;
constexpr std::size_t kMaxReportReplyBytes =
    kReportReplyHeadBytes + kMaxReportRanges * 8 + kReportSealBytes;

struct ReportRange {
  std::uint32_t first = 0;  // sequence of a datagram
  std::uint32_t count = 0;
  bool operator==(const ReportRange&) const = default;
};

struct ReportReply {
  ReportReplyType type = ReportReplyType::kCredit;
  std::uint32_t reporter = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t until = 0;  // the reporter may send datagrams up to this sequence
  std::uint32_t lost = 0;   // datagrams that the translator has given up so far; it wraps
  std::uint8_t ranges = 0;
  std::array<ReportRange, kMaxReportRanges> missing{};  // the first `ranges` of them count
};

// Writes the reply, with a seal unless the key is nullptr, and returns the number of bytes.
// REQUIRES: ranges <= kMaxReportRanges.
inline std::size_t write(const ReportReply& reply,
                         std::span<std::uint8_t, kMaxReportReplyBytes> out,
                         const ReportKey* key = nullptr) {
  std::uint8_t* to = out.data();
  storeBe16(to, kReportMagic);
  to[2] = kReportVersion;
  to[3] = static_cast<std::uint8_t>(reply.type);
  to[4] = reply.ranges;
  to[5] = to[6] = to[7] = 0;
  storeBe32(to + 8, reply.reporter);
  storeBe32(to + 12, reply.incarnation);
  storeBe32(to + 16, reply.until);
  storeBe32(to + 20, reply.lost);
  to += kReportReplyHeadBytes;
  for (std::size_t i = 0; i < reply.ranges; ++i, to += 8) {
    storeBe32(to, reply.missing[i].first);
    storeBe32(to + 4, reply.missing[i].count);
  }
  const std::size_t bytes = kReportReplyHeadBytes + std::size_t{reply.ranges} * 8;
  if (key == nullptr) return bytes;
  writeSeal(*key, out.first(bytes + kReportSealBytes));
  return bytes + kReportSealBytes;
}

// The bytes come from outside. Returns nullopt if they are no reply with the key's seal, or with
// nullptr no reply without a seal.
inline std::optional<ReportReply> parseReportReply(std::span<const std::uint8_t> bytes,
                                                   const ReportKey* key = nullptr) {
  if (key != nullptr) {
    if (!hasSeal(*key, bytes)) return std::nullopt;
    bytes = bytes.first(bytes.size() - kReportSealBytes);
  }
  if (bytes.size() < kReportReplyHeadBytes) return std::nullopt;
  const std::uint8_t* from = bytes.data();
  const std::size_t ranges = from[4];
  if (loadBe16(from) != kReportMagic || from[2] != kReportVersion || from[3] < 1 || from[3] > 2 ||
      ranges > kMaxReportRanges || bytes.size() != kReportReplyHeadBytes + ranges * 8) {
    return std::nullopt;
  }
  ReportReply reply;
  reply.type = static_cast<ReportReplyType>(from[3]);
  reply.ranges = static_cast<std::uint8_t>(ranges);
  reply.reporter = loadBe32(from + 8);
  reply.incarnation = loadBe32(from + 12);
  reply.until = loadBe32(from + 16);
  reply.lost = loadBe32(from + 20);
  from += kReportReplyHeadBytes;
  for (std::size_t i = 0; i < ranges; ++i, from += 8) {
    reply.missing[i] = {loadBe32(from), loadBe32(from + 4)};
  }
  return reply;
}

}  // namespace pingloom::wire
