#include "store/writer_status.h"

#include "common/crc32c.h"
#include "store/little_endian.h"

namespace pingloom::store {
namespace {

constexpr std::uint32_t kStatusMagic = 0x53534c50;  // "PLSS"
constexpr std::uint16_t kStatusVersion = 1;
constexpr std::size_t kAcceptedOffset = 32;
constexpr std::size_t kCountersOffset = kAcceptedOffset + kOperations * 8;
constexpr std::size_t kStatusCrcOffset = kCountersOffset + 6 * 8;
static_assert(kStatusCrcOffset == 112);
constexpr std::size_t kFiguresOffset = 128;
constexpr std::size_t kFiguresBytes = 3 * 8;  // of a table
static_assert(kFiguresOffset + kMaxTables * kFiguresBytes == kStatusBytes);
static_assert(totalOffset(2) == kStatusOffset + kFiguresOffset + 2 * kFiguresBytes + 8);

std::uint32_t statusCrc(std::span<const std::uint8_t> block) {
  const auto figures = block.subspan(kFiguresOffset, kMaxTables * kFiguresBytes);
  return crc32c(figures, crc32c(block.first(kStatusCrcOffset)));
}

}  // namespace

StatusBlock encodeStatus(const WriterStatus& status) {
  StatusBlock block{};
  const std::span<std::uint8_t> out(block);
  putLittle(out, 0, kStatusMagic);
  putLittle(out, 4, kStatusVersion);
  putLittle(out, 8, status.incarnation);
  putLittle(out, 16, status.beat);
  putLittle(out, 24, static_cast<std::uint64_t>(status.utc));
  for (std::size_t i = 0; i < kOperations; ++i) {
    putLittle(out, kAcceptedOffset + i * 8, status.accepted[i]);
  }
  putLittle(out, kCountersOffset, status.lost);
  putLittle(out, kCountersOffset + 8, status.refused);
  putLittle(out, kCountersOffset + 16, status.skipped);
  putLittle(out, kCountersOffset + 24, status.evicted);
  putLittle(out, kCountersOffset + 32, status.dropped);
  putLittle(out, kCountersOffset + 40, status.increments);
  for (std::size_t i = 0; i < kMaxTables; ++i) {
    const TableFigures& table = status.tables[i];
    putLittle(out, kFiguresOffset + i * kFiguresBytes, table.used);
    putLittle(out, kFiguresOffset + i * kFiguresBytes + 8, table.total);
    putLittle(out, kFiguresOffset + i * kFiguresBytes + 16, table.displaced);
  }
  putLittle(out, kStatusCrcOffset, statusCrc(out));
  return block;
}

Result<WriterStatus> decodeStatus(std::span<const std::uint8_t> block) {
  if (block.size() < kStatusBytes) return makeError("status", "is too short");
  if (getLittle<std::uint32_t>(block, 0) != kStatusMagic) {
    return makeError("status", "no writer has written yet");
  }
  if (getLittle<std::uint16_t>(block, 4) != kStatusVersion) {
    return makeError("status", "is of an unknown version");
  }
  if (getLittle<std::uint32_t>(block, kStatusCrcOffset) != statusCrc(block)) {
    return makeError("status", "the checksum is wrong");
  }
  WriterStatus status;
  status.incarnation = getLittle<std::uint64_t>(block, 8);
  status.beat = getLittle<std::uint64_t>(block, 16);
  status.utc = static_cast<Nanos>(getLittle<std::uint64_t>(block, 24));
  for (std::size_t i = 0; i < kOperations; ++i) {
    status.accepted[i] = getLittle<std::uint64_t>(block, kAcceptedOffset + i * 8);
  }
  status.lost = getLittle<std::uint64_t>(block, kCountersOffset);
  status.refused = getLittle<std::uint64_t>(block, kCountersOffset + 8);
  status.skipped = getLittle<std::uint64_t>(block, kCountersOffset + 16);
  status.evicted = getLittle<std::uint64_t>(block, kCountersOffset + 24);
  status.dropped = getLittle<std::uint64_t>(block, kCountersOffset + 32);
  status.increments = getLittle<std::uint64_t>(block, kCountersOffset + 40);
  for (std::size_t i = 0; i < kMaxTables; ++i) {
    const std::size_t at = kFiguresOffset + i * kFiguresBytes;
    status.tables[i] = {getLittle<std::uint64_t>(block, at),
                        getLittle<std::uint64_t>(block, at + 8),
                        getLittle<std::uint64_t>(block, at + 16)};
  }
  return status;
}

Result<WriterStatus> decodeSharedStatus(std::span<const std::uint8_t> block) {
  if (block.size() < kStatusBytes) return makeError("status", "is too short");
  WriterStatus status;
  status.utc = static_cast<Nanos>(getLittle<std::uint64_t>(block, kBeatOffset - kStatusOffset));
  if (status.utc == 0) return makeError("status", "no writer has written yet");
  if (status.utc < 0 || status.utc > kLatestUtc) return makeError("status", "impossible time");
  for (std::size_t i = 0; i < kMaxTables; ++i) {
    status.tables[i].total = getLittle<std::uint64_t>(block, totalOffset(i) - kStatusOffset);
  }
  return status;
}

}  // namespace pingloom::store
