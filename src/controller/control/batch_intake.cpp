#include "controller/control/batch_intake.h"

#include <map>
#include <utility>

namespace pingloom::controller {
namespace {

std::string entityOf(const wire::Report& report) {
  return "report of probe " + report.probe() + ": ";
}

}  // namespace

BatchIntake::Verdict BatchIntake::take(Agent& agent, std::string_view frame,
                                       std::shared_ptr<const void> owner, Instant now,
                                       wire::RelayedBatch* told) {
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
  if (told != nullptr) told->set_incarnation(parts->id.incarnation);
  if (batchKind(frame) == BatchKind::kLive) {
    show(agent, *parts, told, now);
    return verdict;
  }
  const std::string& host = agent.info.host;
  const BatchMarks::Verdict known = marks_.verdict(host, parts->id);
  if (known != BatchMarks::Verdict::kNew) {
    ++counters_.batches_duplicate;
    if (known == BatchMarks::Verdict::kCommitted) verdict.acknowledge = marks_.committedUpTo(host);
    return verdict;
  }
  if (agent.suspended) {
    show(agent, *parts, told, now);
  } else {
    commit(agent, *parts, {host, parts->id, {}, std::move(owner), frame.size(), 0}, told, now,
           verdict);
  }
  return verdict;
}

// Faults in it are reported when it arrives to be committed.
void BatchIntake::show(const Agent& agent, const BatchParts& parts, wire::RelayedBatch* told,
                       Instant now) {
  ++counters_.batches_shown;
  const std::string& host = agent.info.host;
  const bool counted =
      marks_.verdict(host, parts.id) != BatchMarks::Verdict::kNew || !counted_.show(host, parts.id);
  for (const std::string_view report : parts.reports) {
    (void)takeReport({agent, parts.id, counted, told}, report, now);
  }
}

// It is counted in the histograms of the controller that has taken it.
std::string BatchIntake::takeRelayed(const Agent& agent, const wire::RelayedBatch& batch,
                                     Instant now) {
  std::string first_fault;
  const auto refuse = [&](const BadReport& bad) {
    ++counters_.relayed_refused[static_cast<std::size_t>(bad.fault)];
    if (first_fault.empty()) first_fault = bad.text;
  };
  if (batch.incarnation() == 0 || batch.incarnation() > agent.info.incarnation) {
    refuse({ReportFault::kBatch, "the batch is of no incarnation of its agent"});
    return first_fault;
  }
  ++counters_.batches_relayed;
  const Grid::Origin origin{agent.id, batch.incarnation(), now.utc, true, true};
  for (const wire::RelayedReport& report : batch.reports()) {
    const auto head = checkHead(agent, report.head(), now);
    if (!head) {
      refuse(head.error());
    } else if (const auto applied = grid_.apply(report, *head, origin, now); !applied) {
      refuse({ReportFault::kRows, entityOf(report.head()) + applied.error().text()});
    } else {
      counters_.rows_ignored += applied->ignored;
    }
  }
  return first_fault;
}

void BatchIntake::commit(Agent& agent, const BatchParts& parts, LedgerBatch batch,
                         wire::RelayedBatch* told, Instant now, Verdict& verdict) {
  if (!parts.fault.empty()) refuse({ReportFault::kBatch, parts.fault}, verdict);
  batch.windows.reserve(parts.reports.size());
  const bool counted = !counted_.take(agent.info.host, parts.id);
  for (const std::string_view report : parts.reports) {
    const auto head = takeReport({agent, parts.id, counted, told}, report, now);
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

tl::expected<ReportHead, BatchIntake::BadReport> BatchIntake::checkHead(const Agent& agent,
                                                                        const wire::Report& report,
                                                                        Instant now) {
  const auto bad = [](ReportFault fault, std::string text) {
    return tl::unexpected(BadReport{fault, std::move(text)});
  };
  const auto head = readHead(report);
  if (!head) return bad(ReportFault::kHead, head.error().text());
  if (tooFarAhead(*head, ceiling_.at(now))) {
    return bad(ReportFault::kFutureWindow, entityOf(report) + "its window ends in the future");
  }
  if (!registry_.owns(agent, head->source)) {
    return bad(ReportFault::kForeignSource,
               entityOf(report) + head->source.text() + " is not an address of this agent");
  }
  return *head;
}

tl::expected<ReportHead, BatchIntake::BadReport> BatchIntake::takeReport(const Origin& origin,
                                                                         std::string_view report,
                                                                         Instant now) {
  if (auto status = view_.read(report); !status) {
    return tl::unexpected(BadReport{ReportFault::kMalformed, status.error().text()});
  }
  auto head = checkHead(origin.agent, view_.head(), now);
  if (!head) return head;
  wire::RelayedReport* const told = origin.told == nullptr ? nullptr : origin.told->add_reports();
  const auto applied =
      grid_.apply(view_, *head, {origin.agent.id, origin.id.incarnation, now.utc, origin.counted},
                  now, told == nullptr ? nullptr : told->mutable_rows());
  if (told != nullptr) {
    if (applied && applied->shown) {
      *told->mutable_head() = view_.head();
    } else {
      origin.told->mutable_reports()->RemoveLast();
    }
  }
  if (!applied) {
    return tl::unexpected(
        BadReport{ReportFault::kRows, entityOf(view_.head()) + applied.error().text()});
  }
  counters_.rows_ignored += applied->ignored;
  return head;
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
