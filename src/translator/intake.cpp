#include "translator/intake.h"

#include "store/stamp.h"

namespace pingloom::translator {

using wire::ReportRefusal;

void Intake::take(std::span<const std::uint8_t> datagram, const SocketAddress& source,
                  Shadow& shadow, Nanos now_mono, Nanos utc) {
  ++counters_.datagrams;
  const auto rule = checkDatagram(datagram, source, now_mono);
  if (!rule) return refuseDatagram(rule.error(), source);
  rules_->learn(shadow.head());
  const Moment now{now_mono, utc, store::stampAt(utc, shadow.head().made)};
  while (reader_.next()) {
    const wire::ReportItem& report = reader_.report();
    ReportRefusal why = reader_.refusal();
    if (why == ReportRefusal::kNone && !(*rule)->mayWrite(report.table)) {
      why = ReportRefusal::kForbidden;
    }
    if (why == ReportRefusal::kNone) why = placer_.place(report, shadow, now);
    if (why == ReportRefusal::kNone) {
      ++counters_.accepted[static_cast<std::size_t>(report.operation) - 1];
    } else {
      refuse(
          {why, Refused::Sender::kReporter, report.table, reader_.head().reporter, source.address});
    }
  }
  placer_.finish(now.stamp);
}

void Intake::settlePaths(Shadow& shadow, Nanos now_mono, Nanos utc) {
  placer_.settlePaths(shadow, {now_mono, utc, store::stampAt(utc, shadow.head().made)});
}

void Intake::setRules(std::unique_ptr<ReporterRules> rules) {
  rules_ = std::move(rules);
  losses_.setReporters(rules_->numbers());
}

void Intake::refuse(const Refused& refused) {
  counters_.refuse(refused.reason);
  losses_.refuse(refused);
}

void Intake::refuseDatagram(ReportRefusal reason, const SocketAddress& source) {
  Refused refused{reason, Refused::Sender::kUnreadable, 0, 0, source.address};
  const bool readable = reason != ReportRefusal::kShort && reason != ReportRefusal::kMagic &&
                        reason != ReportRefusal::kVersion;
  if (readable) {
    refused.reporter = reader_.head().reporter;
    const bool known = rules_->find(refused.reporter, source.address) != nullptr;
    refused.sender = known ? Refused::Sender::kReporter : Refused::Sender::kStranger;
  }
  refuse(refused);
}

tl::expected<const ReporterRule*, ReportRefusal> Intake::checkDatagram(
    std::span<const std::uint8_t> datagram, const SocketAddress& source, Nanos now_mono) {
  const ReportRefusal malformed = reader_.open(datagram);
  if (malformed != ReportRefusal::kNone) return tl::unexpected(malformed);
  const wire::ReportHead& head = reader_.head();
  const ReporterRule* rule = rules_->find(head.reporter, source.address);
  if (rule == nullptr) return tl::unexpected(ReportRefusal::kUnknownReporter);
  const bool sealed = (head.flags & wire::kReportSealed) != 0;
  const bool right =
      rule->key() == nullptr ? !sealed : sealed && wire::hasSeal(*rule->key(), datagram);
  if (!right) return tl::unexpected(ReportRefusal::kSeal);
  const ReportRefusal refused = reporters_.take(head, source, now_mono);
  if (refused != ReportRefusal::kNone) return tl::unexpected(refused);
  return rule;
}

void Intake::takePublished(std::span<const std::uint8_t> packet, const SocketAddress& source,
                           PublishedSources& sources, Shadow& shadow, Nanos now_mono, Nanos utc) {
  ++counters_.published;
  sources.learn(shadow.head());
  wire::PublishedReport published;
  ReportRefusal why = checkPublished(packet, source.address, sources, published);
  const Moment now{now_mono, utc, store::stampAt(utc, shadow.head().made)};
  if (why == ReportRefusal::kNone) why = placer_.place(published.report, shadow, now);
  if (why == ReportRefusal::kNone) {
    ++counters_.accepted[static_cast<std::size_t>(published.report.operation) - 1];
  } else {
    refuse({why, Refused::Sender::kSwitch, published.report.table, 0, source.address});
  }
  placer_.finish(now.stamp);
}

ReportRefusal Intake::checkPublished(std::span<const std::uint8_t> packet, const IpAddress& source,
                                     PublishedSources& sources, wire::PublishedReport& out) {
  if (!sources.admits(source)) return ReportRefusal::kUnknownReporter;
  const ReportRefusal malformed = wire::parsePublished(packet, out);
  if (malformed != ReportRefusal::kNone) return malformed;
  if (out.sequence) counters_.published_lost += sources.lostBefore(source, *out.sequence);
  const auto table = sources.tableFor(out.report.operation);
  if (!table) return ReportRefusal::kUnknownTable;
  out.report.table = *table;
  return ReportRefusal::kNone;
}

}  // namespace pingloom::translator
