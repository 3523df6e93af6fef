#include "controller/model/row_json.h"

#include <array>
#include <charconv>
#include <cstring>

#include "common/vocabulary.h"
#include "controller/model/limits.h"

namespace pingloom::controller {
namespace {

void appendNumber(std::uint64_t number, std::string& out) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void appendField(std::string_view quoted_name, std::uint64_t number, std::string& out) {
  out += quoted_name;
  appendNumber(number, out);
}

// Names of devices come from agents: nothing in them may end the string.
void appendString(std::string_view text, std::string& out) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void appendPadded(std::uint64_t number, int width, std::string& out) {
  std::array<char, 8> digits;
  for (int i = width; i-- > 0; number /= 10) {
    digits[static_cast<std::size_t>(i)] = static_cast<char>('0' + number % 10);
  }
  out.append(digits.data(), static_cast<std::size_t>(width));
}

struct Date {
  std::int64_t year;
  std::uint64_t month;
  std::uint64_t day;
};

// Howard Hinnant's civil_from_days. gmtime and a formatter would cost as much as the rest of a row.
Date dateOf(std::int64_t days_since_1970) {
  const std::int64_t days = days_since_1970 + 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const auto day_of_era = static_cast<std::uint64_t>(days - era * 146'097);
  const std::uint64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::uint64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::uint64_t shifted_month = (5 * day_of_year + 2) / 153;
  const std::uint64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  return {static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0), month,
          day_of_year - (153 * shifted_month + 2) / 5 + 1};
}

// As formatUtc(), for times after 1970.
void appendUtc(Nanos utc, std::string& out) {
  const Nanos seconds = utc / kSecond;
  const Date date = dateOf(seconds / 86'400);
  const auto of_day = static_cast<std::uint64_t>(seconds % 86'400);
  out += '"';
  appendPadded(static_cast<std::uint64_t>(date.year), 4, out);
  out += '-';
  appendPadded(date.month, 2, out);
  out += '-';
  appendPadded(date.day, 2, out);
  out += 'T';
  appendPadded(of_day / 3600, 2, out);
  out += ':';
  appendPadded(of_day / 60 % 60, 2, out);
  out += ':';
  appendPadded(of_day % 60, 2, out);
  if (const Nanos millis = utc % kSecond / kMillisecond; millis != 0) {
    out += '.';
    appendPadded(static_cast<std::uint64_t>(millis), 3, out);
  }
  out += "Z\"";
}

// A rolled-up row has neither minimum nor mean.
void appendSummary(std::string_view quoted_name, const Summary& part, bool rolled_up,
                   std::string& out) {
  if (part.count == 0) return;
  out += quoted_name;
  out += '{';
  if (!rolled_up) {
    appendField("\"min\":", part.min, out);
    appendField(",\"mean\":", part.mean, out);
    out += ',';
  }
  appendField("\"p50\":", part.p50, out);
  appendField(",\"p95\":", part.p95, out);
  appendField(",\"p99\":", part.p99, out);
  appendField(",\"max\":", part.max, out);
  out += '}';
}

void appendAnomalies(const Row& row, std::string& out) {
  out += ",\"anomalous\":{";
  bool first = true;
  for (std::size_t i = 0; i < kAnomalies; ++i) {
    if (row.anomalous[i] == 0) continue;
    if (!first) out += ',';
    first = false;
    out += '"';
    out += kAnomalyNames[i];
    appendField("\":", row.anomalous[i], out);
  }
  out += '}';
}

void appendSeverity(const Row& row, Judged judged, const Baseline& baseline, std::string& out) {
  out += ",\"severity\":\"";
  out += name(judged.severity);
  out += '"';
  if (judged.severity < Severity::kSlow) return;
  out += ",\"because\":[";
  for (const std::string& reason : becauseOf(row, judged, baseline)) {
    if (out.back() != '[') out += ',';
    appendString(reason, out);
  }
  out += ']';
}

}  // namespace

void appendRowJson(const plan::ProbeSpec& probe, const SourceRows& source, const Row& row,
                   PairState state, std::string& out, std::uint32_t path, bool rolled_up,
                   Judged judged, const Baseline* baseline) {
  out += "{\"start\":";
  appendUtc(source.window_start_utc, out);
  out += ",\"end\":";
  appendUtc(source.window_start_utc + source.window, out);
  out += ",\"state\":\"";
  out += name(state);
  out += '"';
  if (baseline != nullptr) appendSeverity(row, judged, *baseline, out);
  appendField(",\"sent\":", row.sent, out);
  appendField(",\"received\":", row.received, out);
  appendField(",\"lost\":", row.lost, out);
  appendField(",\"refused\":", row.refused, out);
  appendField(",\"unreachable\":", row.unreachable, out);
  appendField(",\"ack_lost\":", row.ack_lost, out);
  appendField(",\"duplicate\":", row.duplicate, out);
  appendField(",\"late\":", row.late, out);
  appendAnomalies(row, out);
  appendSummary(",\"network_ns\":", row.network, rolled_up, out);
  appendSummary(",\"responder_ns\":", row.responder, rolled_up, out);
  appendSummary(",\"prober_ns\":", row.prober, rolled_up, out);
  appendSummary(",\"rtt_ns\":", row.rtt, rolled_up, out);
  if (row.jitter_ns) appendField(",\"jitter_ns\":", *row.jitter_ns, out);
  out += ",\"clock\":\"";
  out += name(source.clock);
  out += '"';
  if (!source.device.empty()) {
    out += ",\"device\":";
    appendString(source.device, out);
  }
  out += ",\"protocol\":\"";
  out += name(probe.protocol);
  out += '"';
  if (path != 0) appendField(",\"path\":", path, out);
  out += '}';
}

}  // namespace pingloom::controller
