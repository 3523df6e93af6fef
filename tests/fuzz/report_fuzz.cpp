// A datagram whose reports are all good must be written back to an equal one, padding and seal
// aside. A reply that parses must be written back to the same bytes, the reserved ones aside.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "wire/published_dta.h"
#include "wire/report_reader.h"
#include "wire/report_reply.h"
#include "wire/report_writer.h"

namespace {

using namespace pingloom::wire;

bool same(const ReportItem& a, const ReportItem& b) {
  return a.operation == b.operation && a.table == b.table && a.hop == b.hop && a.hops == b.hops &&
         std::equal(a.key.begin(), a.key.end(), b.key.begin(), b.key.end()) &&
         std::equal(a.value.begin(), a.value.end(), b.value.begin(), b.value.end());
}

void checkDatagram(std::span<const std::uint8_t> bytes) {
  ReportReader reader;
  if (reader.open(bytes) != ReportRefusal::kNone) return;
  std::vector<ReportItem> reports;
  unsigned seen = 0;
  for (; reader.next(); ++seen) {
    if (reader.refusal() == ReportRefusal::kNone) reports.push_back(reader.report());
  }
  if (seen != reader.head().reports) std::abort();
  if (reports.empty()) return;
  std::vector<std::uint8_t> buffer(bytes.size());
  ReportWriter writer(buffer);
  for (const ReportItem& report : reports) {
    if (!writer.hasRoom(report.key.size(), report.value.size())) std::abort();
    writer.add(report);
  }
  ReportHead head = reader.head();
  head.flags &= static_cast<std::uint8_t>(~kReportSealed);
  ReportReader again;
  if (again.open(writer.finish(head)) != ReportRefusal::kNone) std::abort();
  for (const ReportItem& report : reports) {
    if (!again.next() || again.refusal() != ReportRefusal::kNone) std::abort();
    if (!same(again.report(), report)) std::abort();
  }
}

void checkReply(std::span<const std::uint8_t> bytes) {
  constexpr ReportKey kKey = {1, 2, 3};
  // It is not known whether it parses: a fuzzer that follows comparisons may find the right seal.
  (void)parseReportReply(bytes, &kKey);
  const auto reply = parseReportReply(bytes);
  if (!reply) return;
  std::array<std::uint8_t, kMaxReportReplyBytes> again{};
  const auto sealed = std::span(again).first(write(*reply, again, &kKey));
  if (!parseReportReply(sealed, &kKey)) std::abort();
  std::uint8_t& changed = sealed[reply->until % sealed.size()];
  changed ^= 1;
  if (parseReportReply(sealed, &kKey)) std::abort();
  changed ^= 1;
  if (write(*reply, again) != bytes.size()) std::abort();
  const auto after_head = [](auto span) { return span.subspan(8); };
  const auto written = after_head(std::span<const std::uint8_t>(again).first(bytes.size()));
  if (!std::equal(written.begin(), written.end(), after_head(bytes).begin())) std::abort();
}

// A published packet that parses lies within its bytes, with its key and its value.
void checkPublished(std::span<const std::uint8_t> bytes) {
  PublishedReport out;
  if (parsePublished(bytes, out) != ReportRefusal::kNone) return;
  const auto within = [&](std::span<const std::uint8_t> part) {
    return part.data() >= bytes.data() && part.data() + part.size() <= bytes.data() + bytes.size();
  };
  if (bytes.size() > kMaxPublishedDta) std::abort();
  if (!within(out.report.key) || !within(out.report.value)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  checkDatagram({data, size});
  checkReply({data, size});
  checkPublished({data, size});
  return 0;
}
