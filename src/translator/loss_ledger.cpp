#include "translator/loss_ledger.h"

#include <algorithm>
#include <utility>

namespace pingloom::translator {

std::size_t LossLedger::indexOf(std::uint32_t reporter) const {
  const auto& known = counted_.reporters;
  const auto found =
      std::lower_bound(known.begin(), known.end(), reporter,
                       [](const auto& one, std::uint32_t number) { return one.first < number; });
  if (found == known.end() || found->first != reporter) return known.size();
  return static_cast<std::size_t>(found - known.begin());
}

Losses& LossLedger::at(std::size_t index) {
  changed_ = true;
  return index == counted_.reporters.size() ? counted_.other : counted_.reporters[index].second;
}

void LossLedger::setReporters(std::vector<std::uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  LossLedger next;
  next.said_.resize(numbers.size() + 1);
  next.news_ = news_;
  for (const std::uint32_t number : numbers) next.counted_.reporters.emplace_back(number, Losses{});
  for (std::size_t i = 0; i < said_.size(); ++i) {
    const bool other = i == counted_.reporters.size();
    const std::size_t to = other ? numbers.size() : next.indexOf(counted_.reporters[i].first);
    next.at(to).add(at(i));
    Said& said = next.said_[to];
    said.latest = said_[i].latest;
    said.lost += said_[i].lost;
    said.skipped += said_[i].skipped;
    said.refused += said_[i].refused;
  }
  *this = std::move(next);
}

void LossLedger::lose(std::uint32_t reporter, std::uint64_t datagrams) {
  if (datagrams == 0) return;
  at(indexOf(reporter)).lost += datagrams;
  news_ = true;
}

void LossLedger::skip(std::uint32_t reporter, std::uint64_t reports) {
  if (reports != 0) at(indexOf(reporter)).skipped += reports;
}

void LossLedger::refuse(const Refused& refused) {
  const std::size_t index = refused.sender == Refused::Sender::kReporter
                                ? indexOf(refused.reporter)
                                : counted_.reporters.size();
  ++at(index).refused[static_cast<std::size_t>(refused.reason)];
  said_[index].latest = refused;
  news_ = true;
}

void LossLedger::copyTo(ReporterLosses& out) {
  if (std::exchange(changed_, false)) out = counted_;
}

std::optional<Complaint> LossLedger::complain() {
  if (!std::exchange(news_, false)) return std::nullopt;
  Complaint worst;
  std::size_t found = 0;
  for (std::size_t i = 0; i < said_.size(); ++i) {
    const bool other = i == counted_.reporters.size();
    const Losses& now = other ? counted_.other : counted_.reporters[i].second;
    Said& said = said_[i];
    Complaint one;
    if (!other) one.reporter = counted_.reporters[i].first;
    const std::uint64_t refused = now.refusedInAll();
    one.lost = now.lost - std::exchange(said.lost, now.lost);
    one.refused = refused - std::exchange(said.refused, refused);
    if (one.lost + one.refused == 0) continue;
    one.skipped = now.skipped - std::exchange(said.skipped, now.skipped);
    one.latest = said.latest;
    ++found;
    if (one.lost + one.refused > worst.lost + worst.refused) worst = one;
  }
  if (found == 0) return std::nullopt;
  worst.others = found - 1;
  worst.any_configured = !counted_.reporters.empty();
  return worst;
}

}  // namespace pingloom::translator
