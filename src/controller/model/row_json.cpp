#include "controller/model/row_json.h"

#include "common/json_text.h"
#include "common/text_buffer.h"
#include "common/vocabulary.h"
#include "controller/model/limits.h"

namespace pingloom::controller {
namespace {

// A rolled-up row has neither minimum nor mean.
void addSummary(std::string_view quoted_name, const Summary& part, bool rolled_up,
                TextBuffer& out) {
  if (part.count == 0) return;
  out.add(quoted_name);
  if (!rolled_up) {
    out.addField("\"min\":", part.min);
    out.addField(",\"mean\":", part.mean);
    out.add(',');
  }
  out.addField("\"p50\":", part.p50);
  out.addField(",\"p95\":", part.p95);
  out.addField(",\"p99\":", part.p99);
  out.addField(",\"max\":", part.max);
  out.add('}');
}

void addAnomalies(const Row& row, TextBuffer& out) {
  out.add(",\"anomalous\":{");
  bool first = true;
  for (std::size_t i = 0; i < kAnomalies; ++i) {
    if (row.anomalous[i] == 0) continue;
    if (!first) out.add(',');
    first = false;
    out.add('"');
    out.add(kAnomalyNames[i]);
    out.addField("\":", row.anomalous[i]);
  }
  out.add('}');
}

void addSeverity(const Row& row, Judged judged, const Baseline* baseline, TextBuffer& out) {
  out.add(",\"severity\":\"");
  out.add(name(judged.severity));
  out.add('"');
  if (judged.severity < Severity::kSlow || baseline == nullptr) return;
  out.add(",\"because\":[");
  bool first = true;
  for (const std::string& reason : becauseOf(figuresOf(row), judged, *baseline)) {
    if (!first) out.add(',');
    first = false;
    appendJsonString(out.string(), reason);
  }
  out.add(']');
}

void addCountFields(const Row& row, TextBuffer& out) {
  out.addField(",\"sent\":", row.sent);
  out.addField(",\"received\":", row.received);
  out.addField(",\"lost\":", row.lost);
  out.addField(",\"refused\":", row.refused);
  out.addField(",\"unreachable\":", row.unreachable);
  out.addField(",\"ack_lost\":", row.ack_lost);
  out.addField(",\"duplicate\":", row.duplicate);
  out.addField(",\"late\":", row.late);
  if (row.misfit != 0) out.addField(",\"misfit\":", row.misfit);
  if (row.skipped != 0) out.addField(",\"skipped\":", row.skipped);
  if (row.inbound) out.addField(",\"inbound\":", *row.inbound);
  addAnomalies(row, out);
}

}  // namespace

RowJson::RowJson(const plan::ProbeSpec& probe, const SourceRows& source) {
  head_ = "{\"start\":\"";
  appendUtc(head_, source.window_start_utc);
  head_ += "\",\"end\":\"";
  appendUtc(head_, source.window_start_utc + source.window);
  head_ += "\",\"state\":\"";
  tail_ = ",\"clock\":\"";
  tail_ += name(source.clock);
  tail_ += '"';
  if (!source.device.empty()) {
    tail_ += ",\"device\":";
    appendJsonString(tail_, source.device);
  }
  tail_ += ",\"protocol\":\"";
  tail_ += name(probe.protocol);
  tail_ += '"';
}

void RowJson::append(const Row& row, PairState state, std::string& out,
                     const RowJsonOptions& options) const {
  TextBuffer text(out);
  text.add(head_);
  text.add(name(state));
  text.add('"');
  if (options.judged) addSeverity(row, *options.judged, options.baseline, text);
  addCountFields(row, text);
  addSummary(",\"network_ns\":{", row.network, options.rolled_up, text);
  addSummary(",\"responder_ns\":{", row.responder, options.rolled_up, text);
  addSummary(",\"prober_ns\":{", row.prober, options.rolled_up, text);
  addSummary(",\"rtt_ns\":{", row.rtt, options.rolled_up, text);
  if (row.jitter_ns) text.addField(",\"jitter_ns\":", *row.jitter_ns);
  text.add(tail_);
  if (options.path != 0) text.addField(",\"path\":", options.path);
  text.add('}');
  text.finish();
}

}  // namespace pingloom::controller
