#include "controller/history/codec/kept_report.h"

#include "control.pb.h"
#include "wire/distribution_codec.h"

namespace pingloom::controller {
namespace {

void writeCounts(const Row& row, wire::Row& out) {
  out.set_sent(row.sent);
  out.set_received(row.received);
  out.set_lost(row.lost);
  out.set_refused(row.refused);
  out.set_unreachable(row.unreachable);
  out.set_ack_lost(row.ack_lost);
  out.set_duplicate(row.duplicate);
  out.set_late(row.late);
  for (const std::uint32_t count : row.anomalous) out.add_anomalous(count);
  if (row.jitter_ns) out.set_jitter_ns(*row.jitter_ns);
}

// Appends the rows of a block to the encoded report. `one` has the row that is encoded next. All
// rows use its memory, because making messages for each of millions of rows took most of a start.
void appendRows(BlockReader& block, wire::Report& one, std::string& out) {
  wire::Row& encoded = *one.mutable_rows(0);
  Distribution samples;
  for (std::size_t i = 0; i < block.destinations().size(); ++i) {
    Row row;
    block.counts(i, row);
    encoded.Clear();
    encoded.set_destination(block.destinations()[i].wire());
    writeCounts(row, encoded);
    for (std::size_t part = 0; part < kRowParts.size(); ++part) {
      const auto runs = block.samples(part, i);
      if (runs.empty()) continue;
      samples.clear();
      addTo(samples, runs);
      wire::SampleSet& set = part == 0   ? *encoded.mutable_network()
                             : part == 1 ? *encoded.mutable_responder()
                             : part == 2 ? *encoded.mutable_prober()
                                         : *encoded.mutable_rtt();
      wire::encode(samples, set);
    }
    one.AppendToString(&out);
  }
}

}  // namespace

std::string reportOf(const KeptReport& kept, ContentReader& content) {
  wire::Report report;
  report.set_probe(std::string(kept.probe));
  report.set_source(kept.source.wire());
  report.set_protocol(static_cast<wire::ProbeProtocol>(content.head().protocol));
  report.set_window_index(static_cast<std::uint64_t>(kept.start_utc / kept.window));
  report.set_window_ns(kept.window);
  report.set_clock(static_cast<std::uint32_t>(content.head().clock));
  report.set_device(content.head().device);
  report.set_path(kept.path);
  std::string made = report.SerializeAsString();
  wire::Report one;
  one.add_rows();
  // A reader of concatenated protobuf messages merges them, so it finds all rows in one.
  for (std::size_t at = 0; at < content.blocks(); ++at) appendRows(content.block(at), one, made);
  return made;
}

}  // namespace pingloom::controller
