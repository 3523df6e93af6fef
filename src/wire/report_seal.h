// The seals of report datagrams and of replies: their last 8 bytes are SipHash-2-4 of all bytes
// before, under the reporter's key, little endian as SipHash defines its result. The bytes before
// have the reporter, its incarnation and the sequence, so a seal fits one datagram only. Inline,
// because the report library uses it. Pure functions; any thread.
#pragma once

#include <endian.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "common/sip_hash.h"
#include "wire/report.h"

namespace pingloom::wire {

using ReportKey = SipKey;

// Writes the seal of the bytes before into the last kReportSealBytes of `sealed`.
// REQUIRES: at least so many bytes.
inline void writeSeal(const ReportKey& key, std::span<std::uint8_t> sealed) {
  const std::size_t before = sealed.size() - kReportSealBytes;
  const std::uint64_t seal = htole64(sipHash(key, sealed.first(before)));
  std::memcpy(sealed.data() + before, &seal, sizeof seal);
}

// Tells whether the last bytes are the seal of those before. The time that the comparison takes
// does not depend on where the two differ.
inline bool hasSeal(const ReportKey& key, std::span<const std::uint8_t> sealed) {
  if (sealed.size() < kReportSealBytes) return false;
  const std::size_t before = sealed.size() - kReportSealBytes;
  const std::uint64_t wanted = htole64(sipHash(key, sealed.first(before)));
  std::uint64_t seal = 0;
  std::memcpy(&seal, sealed.data() + before, sizeof seal);
  return (seal ^ wanted) == 0;
}

}  // namespace pingloom::wire
