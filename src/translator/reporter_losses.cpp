#include "translator/reporter_losses.h"

#include <algorithm>
#include <numeric>

namespace pingloom::translator {

void Losses::add(const Losses& other) {
  lost += other.lost;
  skipped += other.skipped;
  for (std::size_t i = 0; i < refused.size(); ++i) refused[i] += other.refused[i];
}

std::uint64_t Losses::refusedInAll() const {
  return std::accumulate(refused.begin(), refused.end(), std::uint64_t{0});
}

// During a reload the threads may have different reporters for a moment.
void ReporterLosses::add(const ReporterLosses& more) {
  other.add(more.other);
  reporters.insert(reporters.end(), more.reporters.begin(), more.reporters.end());
  std::stable_sort(reporters.begin(), reporters.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < reporters.size(); ++i) {
    if (reporters[i].first == reporters[kept].first) {
      reporters[kept].second.add(reporters[i].second);
    } else {
      reporters[++kept] = reporters[i];
    }
  }
  if (!reporters.empty()) reporters.resize(kept + 1);
}

}  // namespace pingloom::translator
