// What a controller does about its plan: it loads the pinglist, expands it, puts it in force, and
// restores the latest windows of the plan's pairs.
#include <algorithm>
#include <future>
#include <iterator>
#include <utility>

#include "common/log.h"
#include "controller/controller.h"
#include "controller/model/grid_plan.h"

namespace pingloom::controller {

std::vector<LedgerPlace> Controller::places() const {
  std::vector<LedgerPlace> made;
  for (const ProbeGrid& probe : grid_.plan().probes) {
    for (const IpAddress& source : probe.sources) made.push_back({probe.spec.name, source});
  }
  return made;
}

// Restores the newest window of each source, so that the grid is complete until its agent reports
// again. A start uses two processors: the next windows are read and decoded in another thread while
// these are shown.
void Controller::restoreAll(Ledger& ledger) {
  constexpr std::size_t kPlacesAtOnce = 8;
  const std::vector<LedgerPlace> all = places();
  const auto read_from = [&](std::size_t first) {
    std::vector<LatestReport> found;
    for (std::size_t i = first; i < std::min(first + kPlacesAtOnce, all.size()); ++i) {
      std::ranges::move(ledger.latest(all[i].probe, all[i].source), std::back_inserter(found));
    }
    return found;
  };
  auto next = std::async(std::launch::async, read_from, std::size_t{0});
  for (std::size_t first = kPlacesAtOnce; next.valid(); first += kPlacesAtOnce) {
    const std::vector<LatestReport> found = next.get();
    if (first < all.size()) next = std::async(std::launch::async, read_from, first);
    for (const LatestReport& latest : found) restore(latest, Instant::now());
  }
}

void Controller::restore(const LatestReport& latest, Instant now) {
  ReportView view;
  if (!view.read(latest.report)) return;
  const auto head = readHead(view.head());
  if (!head || tooFarAhead(*head, now.utc)) return;
  (void)grid_.apply(view, *head, {0, latest.incarnation, head->endUtc()}, now);
}

void Controller::loadPinglist(bool at_start) {
  const Instant now = Instant::now();
  const auto loaded = pinglist_->load(at_start, now.mono, now.utc);
  publish_due_mono_ = 0;
  if (loaded != nullptr) enforce(loaded, now);
}

void Controller::enforce(std::shared_ptr<const pinglist::Pinglist> loaded, Instant now) {
  const bool first = generation_ == 0;
  written_ = std::move(loaded);
  use(expanded(now), now);
  if (first) ledger_->restore(places());
}

// Agents get the plan first: the states of millions of pairs take seconds to derive again.
void Controller::use(const std::shared_ptr<const pinglist::Pinglist>& next, Instant now) {
  server_->setPlan({next, &next->plan}, now);
  grid_.setPlan(makeGridPlan(next, ++generation_), now);
  planChanged(now);
}

// Returns the pinglist with its members and the pairs for its links, and logs what is new about the
// members.
std::shared_ptr<const pinglist::Pinglist> Controller::expanded(Instant now) {
  if (written_->registered.empty()) {
    member_warnings_.clear();
    member_notes_.clear();
    return cover_pairs_->applied(written_);
  }
  auto made = pinglist::expand(*written_, membership_->members(), now.utc);
  for (const std::string& warning : made.warnings) {
    const bool known = std::find(member_warnings_.begin(), member_warnings_.end(), warning) !=
                       member_warnings_.end();
    if (!known) log::warning("{}: {}", pinglist_->path(), warning);
  }
  member_warnings_ = std::move(made.warnings);
  member_notes_ = std::move(made.notes);
  return cover_pairs_->applied(
      std::make_shared<const pinglist::Pinglist>(std::move(made.pinglist)));
}

// Each controller gives its own agents the pairs, so all of them need what the leader has chosen.
// They tell it again each minute, because one that does not know a host yet leaves out its pairs.
void Controller::coverLinks(Instant now) {
  auto chosen = verdicts_.takeChosen();
  if (others_ != nullptr) {
    std::ranges::move(others_->takeCovers(), std::back_inserter(chosen));
  }
  if (written_ == nullptr) return;
  const std::size_t added = cover_pairs_->add(chosen, *grid_.plan().pinglist);
  if (added > 0) {
    use(expanded(now), now);
    log::info("{} more pairs are probed, for links that too few flows cross", added);
  }
  if (!feed_ || (added == 0 && now.mono < covers_due_mono_)) return;
  covers_due_mono_ = now.mono + kMinute;
  feed_->covers(cover_pairs_->all(), now);
}

// The grid has another plan.
void Controller::planChanged(Instant now) {
  verdicts_.setPlan(grid_.sharedPlan(), now);
  paths_.setPlan(grid_.sharedPlan());
}

void Controller::membersChanged(Instant now) {
  if (written_ == nullptr || written_->registered.empty()) return;
  const Nanos started = monotonicNow();
  const auto next = expanded(now);
  const GridPlan& plan = grid_.plan();
  if (plan::hash(next->plan) == plan.hash && next->names == plan.pinglist->names) return;
  use(next, now);
  membership_->tookToApply(monotonicNow() - started);
  log::info("{}: {} agents have registered; {} probes in force", pinglist_->path(),
            membership_->members().size(), next->plan.probes.size());
}

}  // namespace pingloom::controller
