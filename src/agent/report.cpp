#include "agent/report.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "control.pb.h"
#include "wire/distribution_codec.h"

namespace pingloom::agent {
namespace {

// A field of type bytes, string or message, as protobuf writes it.
void appendField(std::string& out, int field, std::string_view bytes) {
  out += static_cast<char>((field << 3) | 2);
  std::size_t length = bytes.size();
  for (; length >= 0x80; length >>= 7) out += static_cast<char>((length & 0x7f) | 0x80);
  out += static_cast<char>(length);
  out += bytes;
}

void encodeRow(const IpAddress& destination, const probe::PairWindow& pair, wire::Row& out) {
  out.Clear();
  out.set_destination(destination.wire());
  out.set_sent(pair.sent);
  out.set_received(pair.received);
  out.set_lost(pair.lost);
  out.set_refused(pair.refused);
  out.set_unreachable(pair.unreachable);
  out.set_ack_lost(pair.ack_lost);
  out.set_duplicate(pair.duplicate);
  out.set_late(pair.late);
  out.set_misfit(pair.misfit);
  out.set_skipped(pair.skipped);
  if (pair.inbound != probe::kInboundUnknown) out.set_inbound(pair.inbound);
  if (std::any_of(pair.anomalous.begin(), pair.anomalous.end(), [](auto n) { return n != 0; })) {
    for (const std::uint32_t count : pair.anomalous) out.add_anomalous(count);
  }
  if (pair.network.count() != 0) wire::encode(pair.network, *out.mutable_network());
  if (pair.responder.count() != 0) wire::encode(pair.responder, *out.mutable_responder());
  if (pair.prober.count() != 0) wire::encode(pair.prober, *out.mutable_prober());
  if (pair.rtt.count() != 0) wire::encode(pair.rtt, *out.mutable_rtt());
  if (pair.jitter_count != 0) out.set_jitter_ns(pair.jitter_sum / pair.jitter_count);
}

}  // namespace

bool hasCounts(const probe::PairWindow& pair) {
  return pair.sent != 0 || pair.received != 0 || pair.lost != 0 || pair.refused != 0 ||
         pair.unreachable != 0 || pair.ack_lost != 0 || pair.duplicate != 0 || pair.late != 0 ||
         std::any_of(pair.anomalous.begin(), pair.anomalous.end(), [](auto n) { return n != 0; });
}

struct BatchEncoder::Scratch {
  wire::Row row;
  std::string bytes;
};

BatchEncoder::BatchEncoder(Sink sink)
    : sink_(std::move(sink)), scratch_(std::make_unique<Scratch>()) {}

BatchEncoder::~BatchEncoder() = default;

void BatchEncoder::add(const probe::ClosedWindow& window) {
  const plan::AddressList& destinations = window.assignment->destinations;
  const std::size_t pairs = std::min(window.pairs.size(), destinations.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    if (!hasCounts(window.pairs[i])) continue;
    if (report_.empty()) beginReport(window);
    encodeRow(destinations[i], window.pairs[i], scratch_->row);
    scratch_->row.SerializeToString(&scratch_->bytes);
    appendField(report_, wire::Report::kRowsFieldNumber, scratch_->bytes);
    if (report_.size() >= kTargetBytes) endReport();
  }
  endReport();
}

void BatchEncoder::beginReport(const probe::ClosedWindow& window) {
  const plan::Assignment& assignment = *window.assignment;
  wire::Report report;
  report.set_probe(assignment.probe.name);
  report.set_source(assignment.source.wire());
  report.set_protocol(static_cast<wire::ProbeProtocol>(assignment.probe.protocol));
  report.set_window_index(window.index);
  report.set_window_ns(assignment.probe.window);
  report.set_clock(static_cast<std::uint32_t>(window.clock));
  report.set_device(window.device);
  report.set_path(window.path);
  report_ = report.SerializeAsString();
}

void BatchEncoder::endReport() {
  if (report_.empty()) return;
  appendField(reports_, wire::Batch::kReportsFieldNumber, report_);
  report_.clear();
  if (reports_.size() >= kTargetBytes) {
    sink_(reports_);
    reports_ = {};
  }
}

void BatchEncoder::finish() {
  if (!reports_.empty()) sink_(reports_);
  reports_ = {};
  report_ = {};
}

std::string serializeBatch(wire::BatchId id, std::string_view reports) {
  wire::Batch batch;
  batch.set_incarnation(id.incarnation);
  batch.set_sequence(id.sequence);
  // The identity comes first: whatever the controller makes of the rest, it can acknowledge it.
  std::string bytes = batch.SerializeAsString();
  bytes += reports;
  return bytes;
}

}  // namespace pingloom::agent
