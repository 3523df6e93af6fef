#include "controller/model/page_anomaly.h"

#include <utility>

namespace pingloom::controller {

void PageAnomalies::set(const std::string& url, std::vector<PageAnomaly> anomalies,
                        Nanos now_mono) {
  if (anomalies.size() > kMaxAnomalies) anomalies.resize(kMaxAnomalies);
  const std::lock_guard lock(mutex_);
  std::erase_if(said_, [&](const auto& each) { return now_mono - each.second.when_mono > kValid; });
  said_[url] = {now_mono, std::move(anomalies)};
}

std::vector<PageAnomaly> PageAnomalies::of(const std::string& host, Nanos now_mono) const {
  std::vector<PageAnomaly> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [url, said] : said_) {
    if (!found.empty()) break;
    if (now_mono - said.when_mono > kValid) continue;
    for (const PageAnomaly& anomaly : said.anomalies) {
      if (anomaly.host == host) found.push_back(anomaly);
    }
  }
  return found;
}

}  // namespace pingloom::controller
