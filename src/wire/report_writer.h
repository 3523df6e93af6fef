// Writes report datagrams into a buffer of the caller. No allocation; one thread per object. It is
// inline, because the report library uses it and links nothing of pingloom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "wire/big_endian.h"
#include "wire/report.h"

namespace pingloom::wire {

class ReportWriter {
 public:
  // The buffer outlives the writer, and its size is the bound of a datagram.
  // `sealed` leaves room for a seal, which the caller writes when nothing else changes any more
  // (report_seal.h). REQUIRES: the buffer has room for a head and the seal, and at most
  // kMaxJumboReportDatagram bytes.
  explicit ReportWriter(std::span<std::uint8_t> buffer, bool sealed = false)
      : buffer_(buffer), seal_bytes_(sealed ? kReportSealBytes : 0) {}

  // Begins the next datagram.
  void clear() {
    used_ = kReportHeadBytes;
    reports_ = 0;
  }
  bool empty() const { return reports_ == 0; }
  std::uint16_t reports() const { return reports_; }
  std::size_t bytes() const { return used_ + seal_bytes_; }
  bool hasRoom(std::size_t key, std::size_t value) const {
    return reportBytes(key, value) <= buffer_.size() - seal_bytes_ - used_;
  }

  // Appends a report. REQUIRES: hasRoom(), and key and value within their bounds.
  void add(const ReportItem& report) {
    std::uint8_t* to = buffer_.data() + used_;
    const std::size_t bytes = reportBytes(report.key.size(), report.value.size());
    // Padding is only in the last word of key and value.
    storeBe32(to + bytes - 4, 0);
    to[0] = static_cast<std::uint8_t>(report.operation);
    to[1] = static_cast<std::uint8_t>(bytes / 4);
    storeBe16(to + 2, report.table);
    to[4] = static_cast<std::uint8_t>(report.key.size());
    to[5] = report.hop;
    to[6] = report.hops;
    to[7] = static_cast<std::uint8_t>(report.value.size());
    to += kReportItemHeadBytes;
    const std::size_t padded = reportPadded(report.key.size());
    if (padded != 0) {
      storeBe32(to + padded - 4, 0);
      std::memcpy(to, report.key.data(), report.key.size());
    }
    if (!report.value.empty()) {
      std::memcpy(to + padded, report.value.data(), report.value.size());
    }
    used_ += bytes;
    ++reports_;
  }

  // Writes the head, with reports and length as they are, and returns the whole datagram, which
  // stays in the buffer until clear(). REQUIRES: !empty().
  std::span<std::uint8_t> finish(const ReportHead& head) {
    std::uint8_t* to = buffer_.data();
    storeBe16(to, kReportMagic);
    to[2] = kReportVersion;
    to[3] = seal_bytes_ != 0 ? head.flags | kReportSealed : head.flags;
    storeBe16(to + 4, reports_);
    storeBe16(to + 6, static_cast<std::uint16_t>(bytes()));
    storeBe32(to + 8, head.reporter);
    storeBe32(to + 12, head.incarnation);
    storeBe32(to + 16, head.sequence);
    storeBe32(to + 20, head.skipped);
    storeBe64(to + 24, head.oldest_utc);
    return buffer_.first(bytes());
  }

 private:
  std::span<std::uint8_t> buffer_;
  std::size_t seal_bytes_;
  std::size_t used_ = kReportHeadBytes;
  std::uint16_t reports_ = 0;
};

}  // namespace pingloom::wire
