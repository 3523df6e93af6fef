#include "translator/complaint.h"

#include <fmt/format.h>

#include "translator/reporters.h"

namespace pingloom::translator {
namespace {

using wire::ReportRefusal;
using Sender = Refused::Sender;

std::string senderOf(const Refused& refused) {
  const std::string source = refused.source.text();
  if (refused.sender == Sender::kUnreadable) return "a sender at " + source;
  if (refused.sender == Sender::kSwitch) return "a switch at " + source;
  return fmt::format("reporter {} at {}", refused.reporter, source);
}

std::string adviceForStranger(const Refused& refused, bool any_configured) {
  if (refused.sender == Sender::kSwitch) {
    return "write its address into 'addresses' of 'published'";
  }
  if (refused.sender == Sender::kReporter) {
    return fmt::format("{} reporters are known already; report from fewer processes",
                       Reporters::kMaxReporters);
  }
  if (!any_configured) {
    return "without 'reporters' only this host may report: write its number and address there";
  }
  return "write its number, and this address, into 'reporters'";
}

std::string adviceForTable(const Refused& refused) {
  const std::uint16_t table = refused.table;
  const bool packet = refused.sender == Sender::kSwitch;
  switch (refused.reason) {
    case ReportRefusal::kUnknownTable:
      if (packet) return "'tables' of 'published' has no table for this operation";
      return fmt::format("the store has no table {}: `pingloom dta tables` shows them", table);
    case ReportRefusal::kWrongTable:
      return fmt::format("table {} is of another kind: `pingloom dta tables` shows it", table);
    case ReportRefusal::kValueLength:
      return fmt::format(
          "table {} has no room for values of this length: it has 'value' or "
          "'entry' bytes in the collector's configuration",
          table);
    case ReportRefusal::kHop:
      return fmt::format("table {} has not so many hops, or the hop is beyond the path", table);
    case ReportRefusal::kList:
      return fmt::format("table {} has fewer 'lists' in the collector's configuration", table);
    default:
      return fmt::format("write table {} into 'tables' of the reporter", table);
  }
}

std::string adviceFor(const Refused& refused, bool any_configured) {
  constexpr const char* kNoPacket = "it sends something else than packets of the published DTA";
  const bool packet = refused.sender == Sender::kSwitch;
  switch (refused.reason) {
    case ReportRefusal::kShort:
    case ReportRefusal::kMagic:
    case ReportRefusal::kLength:
    case ReportRefusal::kCount:
      return packet ? kNoPacket : "something that is no reporter sends to this port";
    case ReportRefusal::kVersion:
    case ReportRefusal::kOperation:
      return packet ? kNoPacket : "it may be newer than this translator";
    case ReportRefusal::kSeal:
      return "reporter and translator need the same key file, or none at both ends";
    case ReportRefusal::kUnknownReporter:
      return adviceForStranger(refused, any_configured);
    case ReportRefusal::kDuplicate:
    case ReportRefusal::kOld:
      return "the network doubles its datagrams, or delays them for more than 100 ms";
    case ReportRefusal::kKeyLength:
      return fmt::format("keys have 1 to {} bytes", wire::kMaxReportKey);
    case ReportRefusal::kIncrement:
      return fmt::format("an increment is at most {}", wire::kMaxReportIncrement);
    default:
      return adviceForTable(refused);
  }
}

}  // namespace

std::string text(const Complaint& complaint) {
  std::string line =
      complaint.reporter ? fmt::format("reporter {}: ", *complaint.reporter) : "other reporters: ";
  line += fmt::format("{} datagrams lost, {} datagrams or reports refused", complaint.lost,
                      complaint.refused);
  if (complaint.skipped != 0) line += fmt::format(", {} reports skipped", complaint.skipped);
  if (complaint.refused != 0) {
    line += fmt::format("; the latest is from {} with the reason '{}': {}",
                        senderOf(complaint.latest), name(complaint.latest.reason),
                        adviceFor(complaint.latest, complaint.any_configured));
  }
  if (complaint.lost != 0) {
    line +=
        "; the network loses them, or, if pingloom_translator_socket_overflow_total grows, this "
        "host is too slow";
  }
  if (complaint.others != 0) {
    line += fmt::format("; further reporters with losses: {} (/metrics)", complaint.others);
  }
  return line;
}

}  // namespace pingloom::translator
