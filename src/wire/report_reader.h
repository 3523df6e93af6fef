// Reads report datagrams, whose bytes come from outside. One thread per object; no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/report.h"

namespace pingloom::wire {

class ReportReader {
 public:
  // Checks the head and the lengths of all reports, so a datagram is taken as a whole or not at
  // all. The bytes outlive the reader. Returns kNone, kShort, kMagic, kVersion, kLength or kCount;
  // after the last two the head is as it was sent.
  ReportRefusal open(std::span<const std::uint8_t> datagram);

  const ReportHead& head() const { return head_; }

  // Goes to the next report. Returns false after the last one. REQUIRES: open() returned kNone.
  bool next();
  // Tells why the present report is refused by itself: kNone, kOperation, kKeyLength, kValueLength,
  // kHop or kIncrement.
  ReportRefusal refusal() const { return refusal_; }
  // REQUIRES: refusal() is kNone.
  const ReportItem& report() const { return report_; }
  // Returns the value of an increment.
  std::uint64_t increment() const;

 private:
  ReportRefusal checkLengths();

  std::span<const std::uint8_t> left_;  // the reports that next() has not reached
  std::size_t each_ = 0;                // the size of every report, or 0 if they differ
  ReportHead head_;
  ReportItem report_;
  ReportRefusal refusal_ = ReportRefusal::kNone;
};

}  // namespace pingloom::wire
