#include "controller/batch_intake.h"

#include <map>
#include <utility>

#include "controller/report_reader.h"

namespace pingloom::controller {

BatchIntake::Verdict BatchIntake::take(Agent& agent, std::string_view bytes,
                                       std::shared_ptr<const void> owner, Now now) {
  Verdict verdict;
  const auto parts = splitBatch(bytes);
  if (!parts || parts->id.incarnation > agent.info.incarnation) {
    verdict.bad_messages = 1;
    verdict.first_fault =
        parts ? "the batch is of a later incarnation than its agent" : parts.error().text();
    return verdict;
  }
  const std::string& host = agent.info.host;
  const BatchMarks::Verdict known = marks_.verdict(host, parts->id);
  if (known != BatchMarks::Verdict::kNew) {
    ++counters_.batches_duplicate;
    if (known == BatchMarks::Verdict::kCommitted) verdict.acknowledge = marks_.committedUpTo(host);
    return verdict;
  }
  LedgerBatch batch{host, parts->id, {}, std::move(owner), bytes.size(), 0};
  batch.windows.reserve(parts->reports.size());
  for (const std::string_view report : parts->reports) {
    const auto fault = takeReport(agent, parts->id, report, now, batch);
    if (!fault) continue;
    if (verdict.bad_messages++ == 0) verdict.first_fault = fault->text();
  }
  if (agent.suspended) return verdict;
  if (ledger_.submit(std::move(batch))) {
    marks_.submitted(host, parts->id);
  } else {
    agent.suspended = true;
  }
  return verdict;
}

std::optional<Error> BatchIntake::takeReport(const Agent& agent, BatchId id,
                                             std::string_view report, Now now, LedgerBatch& batch) {
  if (auto status = view_.read(report); !status) return status.error();
  const auto head = readHead(view_.head(), now.utc);
  if (!head) return head.error();
  if (!registry_.owns(agent, head->source)) {
    return Error{"report of probe " + view_.head().probe(),
                 head->source.text() + " is not an address of this agent"};
  }
  const auto applied = grid_.apply(view_, *head, {agent.id, id.incarnation, now.utc}, now);
  if (!applied) return applied.error();
  counters_.rows_ignored += applied->ignored;
  batch.rows += view_.rows().size();
  batch.windows.push_back({view_.head().probe(), head->source, head->start_utc, head->window,
                           head->window_index, head->path, report});
  return std::nullopt;
}

std::vector<BatchIntake::Acknowledgement> BatchIntake::takeCommitted() {
  std::map<std::string, BatchId> up_to;
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
