#include "cli/read_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/duration.h"
#include "common/json_text.h"
#include "common/size.h"

namespace pingloom::cli {
namespace {

using nlohmann::ordered_json;
using rdma::RcStatus;

double perSecond(std::uint64_t amount, Nanos elapsed) {
  if (elapsed <= 0) return 0;
  return static_cast<double>(amount) * static_cast<double>(kSecond) / static_cast<double>(elapsed);
}

// Tells the user what to do about a status.
std::string_view nextStep(RcStatus status) {
  switch (status) {
    case RcStatus::kRemoteAccess:
      return "the server's region has changed; was the server restarted? Run the command again";
    case RcStatus::kRemoteInvalid:
      return "the server's device does not permit remote reads, or not so many in flight";
    case RcStatus::kRemoteOperation:
      return "the server's device could not read its own memory; see the kernel log there";
    case RcStatus::kRetriesExceeded:
      return "the connection was agreed over TCP, but RDMA packets do not arrive or do not come "
             "back: does a firewall or switch drop UDP port 4791? 'pingloom ping rdma' measures it";
    case RcStatus::kRnrExceeded:
      return "the server's device was not ready, and the retries are used up";
    case RcStatus::kLocal:
      return "this host's device refused it: the limit of locked memory, or the device's own "
             "limits";
    case RcStatus::kOk:
    case RcStatus::kFlushed:
      break;
  }
  return "";
}

std::vector<const ReadPhase*> phasesOf(const ReadReport& report) {
  std::vector<const ReadPhase*> phases = {&report.alone};
  if (report.together) phases.push_back(&*report.together);
  return phases;
}

void addFailures(std::string& text, const ReadPhase& phase) {
  for (std::size_t i = 1; i < ReadPhase::kStatuses; ++i) {
    if (phase.failed[i] == 0) continue;
    const auto status = static_cast<RcStatus>(i);
    text += fmt::format("  {} failed: {}\n", phase.failed[i], name(status));
    if (const auto step = nextStep(status); !step.empty()) text += fmt::format("    {}\n", step);
  }
  if (!phase.failure.empty()) text += fmt::format("  ended: {}\n", phase.failure);
  if (phase.stopped) text += "  stopped before it completed\n";
}

std::string textOf(const ReadPhase& phase, const ReadJob& job) {
  std::string text = fmt::format("{} READs of {}, {} at a time: ", phase.done,
                                 formatSize(job.bytes, " "), phase.depth);
  const Summary latency = phase.latency.summary();
  const auto human = [](std::uint64_t time) { return humanNanos(static_cast<Nanos>(time)); };
  if (phase.done == 0) {
    text += "no READ was answered\n";
  } else if (phase.depth == 1) {
    text += fmt::format("latency min {}, p50 {}, p99 {}, max {}\n", human(latency.min),
                        human(latency.p50), human(latency.p99), human(latency.max));
  } else {
    text +=
        fmt::format("{:.1f} MB/s, {:.0f} READs/s; latency p50 {}, p99 {}\n",
                    perSecond(phase.done * job.bytes, phase.elapsed) / 1e6,
                    perSecond(phase.done, phase.elapsed), human(latency.p50), human(latency.p99));
  }
  addFailures(text, phase);
  return text;
}

ordered_json jsonOf(const ReadPhase& phase, const ReadJob& job) {
  ordered_json failed = ordered_json::object();
  for (std::size_t i = 1; i < ReadPhase::kStatuses; ++i) {
    if (phase.failed[i] != 0) {
      failed[std::string(name(static_cast<RcStatus>(i)))] = phase.failed[i];
    }
  }
  ordered_json json = {{"depth", phase.depth}, {"done", phase.done}, {"failed", failed}};
  if (phase.done != 0) {
    const Summary all = phase.latency.summary();
    json["latency_ns"] = {{"min", all.min}, {"mean", all.mean}, {"p50", all.p50},
                          {"p95", all.p95}, {"p99", all.p99},   {"max", all.max}};
    json["reads_per_second"] = perSecond(phase.done, phase.elapsed);
    json["bytes_per_second"] = perSecond(phase.done * job.bytes, phase.elapsed);
  }
  if (!phase.failure.empty()) json["error"] = phase.failure;
  if (phase.stopped) json["stopped"] = true;
  return json;
}

}  // namespace

std::string titleOf(const ReadReport& report) {
  return fmt::format("reading {}:{} ({}, device {}) with {}, path MTU {}\n", report.server,
                     report.region, formatSize(report.region_bytes, " "), report.server_device,
                     report.device, report.mtu);
}

std::string textOf(const ReadReport& report) {
  std::string text;
  std::uint64_t checked = 0;
  std::uint64_t wrong = 0;
  for (const ReadPhase* phase : phasesOf(report)) {
    text += textOf(*phase, report.job);
    checked += phase->checked;
    wrong += phase->wrong;
  }
  if (wrong != 0) {
    text += fmt::format("contents: WRONG in {} of {} READs that were checked\n", wrong, checked);
  } else if (checked != 0) {
    text += fmt::format("contents: right in all {} READs that were checked\n", checked);
  } else {
    text += "contents: not checked\n";
  }
  return text;
}

std::string jsonOf(const ReadReport& report) {
  ordered_json phases = ordered_json::array();
  std::uint64_t checked = 0;
  std::uint64_t wrong = 0;
  for (const ReadPhase* phase : phasesOf(report)) {
    phases.push_back(jsonOf(*phase, report.job));
    checked += phase->checked;
    wrong += phase->wrong;
  }
  return jsonLine(ordered_json{{"server", report.server},
                               {"region", report.region},
                               {"region_bytes", report.region_bytes},
                               {"device", report.device},
                               {"server_device", report.server_device},
                               {"mtu", report.mtu},
                               {"bytes", report.job.bytes},
                               {"phases", phases},
                               {"checked", checked},
                               {"wrong", wrong},
                               {"ok", isGood(report)}});
}

bool isGood(const ReadReport& report) {
  for (const ReadPhase* phase : phasesOf(report)) {
    if (!phase->failure.empty() || phase->wrong != 0) return false;
    for (std::size_t i = 1; i < ReadPhase::kStatuses; ++i) {
      if (phase->failed[i] != 0) return false;
    }
  }
  return report.alone.done != 0;
}

}  // namespace pingloom::cli
