#include "wire/report_reader.h"

#include "wire/big_endian.h"

namespace pingloom::wire {
namespace {

bool isReportOperation(std::uint8_t number) { return number >= 1 && number <= kReportOperations; }

// The bytes that the report says it has, of those that its lengths say. REQUIRES: its head is
// there.
std::size_t saidBytes(const std::uint8_t* report) { return std::size_t{report[1]} * 4; }
bool isAsLongAs(const std::uint8_t* report, std::size_t bytes) {
  return saidBytes(report) == bytes && reportBytes(report[4], report[7]) == bytes;
}

// Returns the size of the reports if all of them have the same one, and 0 if not. Where each begins
// is then known without reading the one before it, which takes a third of the time.
std::size_t commonSize(std::span<const std::uint8_t> reports) {
  if (reports.size() < kReportItemHeadBytes) return 0;
  const std::size_t bytes = saidBytes(reports.data());
  if (bytes < kReportItemHeadBytes || reports.size() % bytes != 0) return 0;
  for (std::size_t at = 0; at < reports.size(); at += bytes) {
    if (!isAsLongAs(&reports[at], bytes)) return 0;
  }
  return bytes;
}

ReportRefusal judge(const ReportItem& report) {
  const bool append = report.operation == ReportOperation::kAppend;
  const bool has_key = !report.key.empty() && report.key.size() <= kMaxReportKey;
  const bool names_list = report.key.empty() || report.key.size() == kReportListBytes;
  if (append ? !names_list : !has_key) return ReportRefusal::kKeyLength;
  if (report.value.empty()) return ReportRefusal::kValueLength;
  if (report.operation == ReportOperation::kKeyIncrement) {
    if (report.value.size() != kReportIncrementBytes) return ReportRefusal::kValueLength;
    if (loadBe64(report.value.data()) > kMaxReportIncrement) return ReportRefusal::kIncrement;
  }
  if (report.hops != 0 && report.hop >= report.hops) return ReportRefusal::kHop;
  return ReportRefusal::kNone;
}

}  // namespace

ReportRefusal ReportReader::open(std::span<const std::uint8_t> datagram) {
  if (datagram.size() < kReportHeadBytes) return ReportRefusal::kShort;
  const std::uint8_t* from = datagram.data();
  if (loadBe16(from) != kReportMagic) return ReportRefusal::kMagic;
  if (from[2] != kReportVersion || (from[3] & ~kReportFlags) != 0) return ReportRefusal::kVersion;
  head_.flags = from[3];
  head_.reports = loadBe16(from + 4);
  head_.length = loadBe16(from + 6);
  head_.reporter = loadBe32(from + 8);
  head_.incarnation = loadBe32(from + 12);
  head_.sequence = loadBe32(from + 16);
  head_.skipped = loadBe32(from + 20);
  head_.oldest_utc = loadBe64(from + 24);
  if (head_.length != datagram.size()) return ReportRefusal::kLength;
  left_ = datagram.subspan(kReportHeadBytes);
  if ((head_.flags & kReportSealed) != 0) {
    if (left_.size() < kReportSealBytes) return ReportRefusal::kLength;
    left_ = left_.first(left_.size() - kReportSealBytes);
  }
  return checkLengths();
}

ReportRefusal ReportReader::checkLengths() {
  std::size_t reports = 0;
  each_ = commonSize(left_);
  if (each_ != 0) {
    reports = left_.size() / each_;
  } else {
    for (auto left = left_; !left.empty(); ++reports) {
      if (left.size() < kReportItemHeadBytes) return ReportRefusal::kLength;
      const std::size_t bytes = saidBytes(left.data());
      if (!isAsLongAs(left.data(), bytes) || bytes > left.size()) return ReportRefusal::kLength;
      left = left.subspan(bytes);
    }
  }
  return reports != 0 && reports == head_.reports ? ReportRefusal::kNone : ReportRefusal::kCount;
}

bool ReportReader::next() {
  if (left_.empty()) return false;
  const std::uint8_t* from = left_.data();
  const std::size_t key = from[4];
  refusal_ = ReportRefusal::kOperation;
  if (isReportOperation(from[0])) {
    report_.operation = static_cast<ReportOperation>(from[0]);
    report_.table = loadBe16(from + 2);
    report_.hop = from[5];
    report_.hops = from[6];
    report_.key = left_.subspan(kReportItemHeadBytes, key);
    report_.value = left_.subspan(kReportItemHeadBytes + reportPadded(key), from[7]);
    refusal_ = judge(report_);
  }
  if (each_ != 0) [[likely]] {
    left_ = left_.subspan(each_);
  } else {
    left_ = left_.subspan(saidBytes(from));
  }
  return true;
}

std::uint64_t ReportReader::increment() const { return loadBe64(report_.value.data()); }

}  // namespace pingloom::wire
