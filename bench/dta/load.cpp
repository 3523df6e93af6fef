#include "load.h"

#include <array>

#include "common/time.h"
#include "wire/big_endian.h"
#include "wire/report_writer.h"

namespace pingloom::bench {

using wire::ReportOperation;

ReportSource::ReportSource(const LoadOptions& options, std::uint64_t seed)
    : options_(options), keys_(options.keys, options.spread, seed) {
  item_.operation = options.operation;
  item_.table = options.table;
  const bool number = options.operation == ReportOperation::kKeyIncrement;
  value_.resize(number ? wire::kReportIncrementBytes : Load::kValueBytes);
  if (options.operation == ReportOperation::kPostcard) {
    value_.resize(8);  // an IPv4 address and a round trip
    item_.hops = Load::kHops;
  }
}

const wire::ReportItem& ReportSource::next() {
  ++count_;
  const bool same_flow = options_.operation == ReportOperation::kPostcard && hop_ != 0;
  if (!same_flow) key_ = flowKey(keys_.next());
  if (options_.operation != ReportOperation::kAppend) item_.key = key_;
  switch (options_.operation) {
    case ReportOperation::kKeyIncrement:
      wire::storeBe64(value_.data(), 1);
      break;
    case ReportOperation::kPostcard:
      item_.hop = hop_;
      wire::storeBe32(value_.data(), 0x0aff0000U + hop_);
      wire::storeBe32(value_.data() + 4, 160U * (hop_ + 1U));
      hop_ = static_cast<std::uint8_t>((hop_ + 1) % Load::kHops);
      break;
    default:
      wire::storeBe64(value_.data(), count_);
  }
  item_.value = value_;
  return item_;
}

Load::Load(const LoadOptions& options, std::uint32_t first) : sequence_(first) {
  ReportSource source(options, first);
  std::array<std::uint8_t, wire::kMaxReportDatagram> buffer{};
  wire::ReportWriter writer(buffer);
  wire::ReportHead head;
  head.reporter = 1;
  head.incarnation = 1;
  const auto close = [&] {
    head.sequence = sequence_++;
    head.oldest_utc = static_cast<std::uint64_t>(utcNow());
    const auto whole = writer.finish(head);
    bytes_.insert(bytes_.end(), whole.begin(), whole.end());
    ends_.push_back(bytes_.size());
    writer.clear();
  };
  for (; reports_ < options.reports; ++reports_) {
    const wire::ReportItem& report = source.next();
    if (!writer.hasRoom(report.key.size(), report.value.size())) close();
    writer.add(report);
  }
  if (!writer.empty()) close();
}

}  // namespace pingloom::bench
