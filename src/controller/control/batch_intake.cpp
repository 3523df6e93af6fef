#include "controller/control/batch_intake.h"

#include <map>
#include <utility>

namespace pingloom::controller {

BatchIntake::Verdict BatchIntake::take(Agent& agent, std::string_view frame,
                                       std::shared_ptr<const void> owner, Instant now) {
  Verdict verdict;
  const auto parts = splitBatch(frame);
  if (!parts) {
    refuse({ReportFault::kBatch, parts.error().text()}, verdict);
    return verdict;
  }
  if (parts->id.incarnation > agent.info.incarnation) {
    // Its mark would hide everything that the agent measures until that incarnation.
    refuse({ReportFault::kBatch, "the batch is of a later incarnation than its agent"}, verdict);
    return verdict;
  }
  if (batchKind(frame) == BatchKind::kLive) {
    show(agent, *parts, now);
    verdict.shown = true;
    return verdict;
  }
  const std::string& host = agent.info.host;
  const BatchMarks::Verdict known = marks_.verdict(host, parts->id);
  if (known != BatchMarks::Verdict::kNew) {
    ++counters_.batches_duplicate;
    if (known == BatchMarks::Verdict::kCommitted) verdict.acknowledge = marks_.committedUpTo(host);
    return verdict;
  }
  verdict.shown = true;
  if (agent.suspended) {
    show(agent, *parts, now);
  } else {
    commit(agent, *parts, {host, parts->id, {}, std::move(owner), frame.size(), 0}, now, verdict);
  }
  return verdict;
}

// Faults in it are reported when it arrives to be committed.
void BatchIntake::show(const Agent& agent, const BatchParts& parts, Instant now) {
  ++counters_.batches_shown;
  const std::string& host = agent.info.host;
  const bool counted =
      marks_.verdict(host, parts.id) != BatchMarks::Verdict::kNew || !counted_.show(host, parts.id);
  for (const std::string_view report : parts.reports) {
    (void)takeReport(agent, parts.id, counted, report, now);
  }
}

// It is counted in the histograms of the controller that has taken it.
void BatchIntake::takeRelayed(const Agent& agent, std::string_view frame, Instant now) {
  const auto parts = splitBatch(frame);
  if (!parts) return;
  ++counters_.batches_relayed;
  for (const std::string_view report : parts->reports) {
    (void)takeReport(agent, parts->id, true, report, now);
  }
}

void BatchIntake::commit(Agent& agent, const BatchParts& parts, LedgerBatch batch, Instant now,
                         Verdict& verdict) {
  if (!parts.fault.empty()) refuse({ReportFault::kBatch, parts.fault}, verdict);
  batch.windows.reserve(parts.reports.size());
  const bool counted = !counted_.take(agent.info.host, parts.id);
  for (const std::string_view report : parts.reports) {
    const auto head = takeReport(agent, parts.id, counted, report, now);
    if (!head) {
      refuse(head.error(), verdict);
      continue;
    }
    batch.rows += view_.rows().size();
    batch.windows.push_back({view_.head().probe(), head->source, head->start_utc, head->window,
                             head->window_index, head->path, report});
  }
  if (ledger_.submit(std::move(batch))) {
    marks_.submitted(agent.info.host, parts.id);
  } else {
    agent.suspended = true;
  }
}

tl::expected<ReportHead, BatchIntake::BadReport> BatchIntake::takeReport(
    const Agent& agent, wire::BatchId id, bool counted, std::string_view report, Instant now) {
  const auto bad = [](ReportFault fault, std::string text) {
    return tl::unexpected(BadReport{fault, std::move(text)});
  };
  if (auto status = view_.read(report); !status) {
    return bad(ReportFault::kMalformed, status.error().text());
  }
  const auto head = readHead(view_.head());
  if (!head) return bad(ReportFault::kHead, head.error().text());
  const std::string entity = "report of probe " + view_.head().probe() + ": ";
  if (tooFarAhead(*head, ceiling_.at(now))) {
    return bad(ReportFault::kFutureWindow, entity + "its window ends in the future");
  }
  if (!registry_.owns(agent, head->source)) {
    return bad(ReportFault::kForeignSource,
               entity + head->source.text() + " is not an address of this agent");
  }
  const bool elsewhere = !agent.info.isHere();
  const auto applied =
      grid_.apply(view_, *head, {agent.id, id.incarnation, now.utc, counted, elsewhere}, now);
  if (!applied) return bad(ReportFault::kRows, entity + applied.error().text());
  counters_.rows_ignored += applied->ignored;
  return *head;
}

void BatchIntake::refuse(const BadReport& bad, Verdict& verdict) {
  ++counters_.refused[static_cast<std::size_t>(bad.fault)];
  if (verdict.refused++ == 0) verdict.first_fault = bad.text;
}

std::vector<BatchIntake::Acknowledgement> BatchIntake::takeCommitted() {
  std::map<std::string, wire::BatchId> up_to;
  for (const LedgerWriter::Outcome& outcome : ledger_.takeOutcomes()) {
    if (!outcome.committed) {
      marks_.failed(outcome.host);
      if (Agent* agent = registry_.find(outcome.host)) agent->suspended = true;
      continue;
    }
    ++counters_.batches_committed;
    counters_.rows_committed += outcome.rows;
    marks_.committed(outcome.host, outcome.id);
    up_to[outcome.host] = outcome.id;
  }
  std::vector<Acknowledgement> made;
  made.reserve(up_to.size());
  for (auto& [host, id] : up_to) made.push_back({host, id});
  return made;
}

}  // namespace pingloom::controller
