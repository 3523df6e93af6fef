#include "controller/verdict/sentence.h"

#include <fmt/format.h>

#include <cmath>

#include "common/text.h"
#include "controller/model/limits.h"

namespace pingloom::controller {
namespace {

std::string subjectOf(const Culprit& culprit) {
  switch (culprit.kind) {
    case CulpritKind::kHost:
    case CulpritKind::kAddress:
      return culprit.name + "'s network side";
    case CulpritKind::kHostSend:
    case CulpritKind::kAddressSend:
      return "what " + culprit.name + " sends";
    case CulpritKind::kHostReceive:
    case CulpritKind::kAddressReceive:
      return "what " + culprit.name + " receives";
    case CulpritKind::kGroup:
      return "the network side of " + culprit.name;
    case CulpritKind::kProbe:
      return "probe " + culprit.name + " as a whole";
    case CulpritKind::kPair:
      return "the pair " + culprit.name;
    case CulpritKind::kLink:
      return "the link " + culprit.name;
    case CulpritKind::kCable:
      return "the cable " + culprit.name;
    case CulpritKind::kSwitch:
      return "the switch " + culprit.name;
    case CulpritKind::kHostCpu:
    case CulpritKind::kAgent:
      break;
  }
  return culprit.name;
}

std::string timesOf(const FigureSummary& summary) {
  if (summary.base == 0) return timeText(summary.value);
  return fmt::format("{}, {} x the mesh's median", timeText(summary.value),
                     ratioText(summary.value, summary.base));
}

std::string predicateOf(const Finding& finding, const FigureSummary& summary) {
  const bool cpu = finding.culprit.kind == CulpritKind::kHostCpu;
  switch (finding.figure) {
    case Figure::kLoss:
      return (finding.severity == Severity::kDown ? "is down: it loses " : "loses ") +
             shareText(summary.value) + " of the pings";
    case Figure::kAnomalous:
      return fmt::format("{}: agents were stalled in {} of the exchanges",
                         cpu ? "is short of CPU time" : "is disturbed", shareText(summary.value));
    case Figure::kResponder:
      return (cpu ? "is short of CPU time: its answers take " : "is slow: answers take ") +
             timesOf(summary);
    case Figure::kProber:
      return (cpu ? "is short of CPU time: its sends and receives take "
                  : "is slow: sends and receives take ") +
             timesOf(summary);
    case Figure::kNetwork:
    case Figure::kRtt:
    case Figure::kJitter:
      break;
  }
  return fmt::format("{}: {} {}",
                     cpu ? "is short of CPU time" : fmt::format("is {}", name(finding.severity)),
                     name(finding.figure), timesOf(summary));
}

std::string percentOf(double share) {
  return shareText(static_cast<std::uint64_t>(std::llround(share * kMillionth)));
}

// A flow that loses this much is lost as a whole.
constexpr double kEvery = 0.95;

}  // namespace

std::string fabricSentenceOf(const Finding& finding, const FabricSummary& summary) {
  const bool every = summary.rate >= kEvery;
  std::string what;
  if (finding.figure == Figure::kLoss) {
    what = every ? "loses every packet" : "loses " + percentOf(summary.rate) + " of the packets";
  } else {
    what = every ? "delays packets" : "delays " + percentOf(summary.rate) + " of the packets";
    what += " by " + timeText(summary.delay_ns);
  }
  if (summary.share < 1) {
    what += " of " + percentOf(summary.share) + " of its flows";
  }
  return fmt::format("{} {}, in {} of {} flows of {}{}", subjectOf(finding.culprit), what,
                     finding.bad_pairs, finding.judged_pairs, join(finding.probes, ", "),
                     summary.witnesses == 1 ? "; only one host saw it"
                     : finding.settled      ? ""
                                            : "; not certain yet");
}

std::string sentenceOf(const Finding& finding, const FigureSummary& summary) {
  const std::string probes = join(finding.probes, ", ");
  // Pairs that have nothing in common but their probe.
  if (finding.culprit.kind == CulpritKind::kProbe && 2 * finding.bad_pairs < finding.judged_pairs) {
    return fmt::format("{} of {} pairs of probe {} are {} without a common cause",
                       finding.bad_pairs, finding.judged_pairs, finding.culprit.name,
                       name(finding.severity));
  }
  return fmt::format("{} {}, in {} of {} pairs of {}", subjectOf(finding.culprit),
                     predicateOf(finding, summary), finding.bad_pairs, finding.judged_pairs,
                     probes);
}

}  // namespace pingloom::controller
