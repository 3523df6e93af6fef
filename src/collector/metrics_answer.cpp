#include "collector/metrics_answer.h"

#include <memory>
#include <utility>
#include <vector>

#include "collector/push/push_service.h"
#include "collector/self_metrics.h"
#include "collector/stores/store_metrics.h"
#include "collector/watch/watcher.h"
#include "common/time.h"

namespace pingloom::collector {

std::string allMetrics(const MetricsSources& from, const Exposition::MakeWriter& make_writer) {
  const Nanos now = monotonicNow();
  Exposition exposition(make_writer, from.exact_histograms, utcNow());
  exposition.addOwnProcess();
  std::vector<AgentView> agents;
  for (const auto& entry : from.board.entries()) {
    AgentView agent = entry->copy();
    exposition.add(agent, now);
    for (PageView& page : agent.pages) page.values.clear();  // their values are no longer needed
    agents.push_back(std::move(agent));
  }
  std::string text = exposition.take();
  const std::unique_ptr<MetricsWriter> own = make_writer();
  selfMetrics(*own, agents, exposition.counters(), from.http, now);
  if (from.watcher != nullptr) from.watcher->metrics(*own);
  if (from.stores != nullptr) storeMetrics(*own, *from.stores, utcNow());
  if (from.push != nullptr) from.push->metrics(*own, now);
  text += own->take();
  return text;
}

std::string adaptiveMetrics(const MetricsSources& from, const Exposition::MakeWriter& make_writer) {
  const Nanos now = monotonicNow();
  Exposition exposition(make_writer, from.exact_histograms, utcNow());
  for (const auto& entry : from.board.entries()) {
    AgentView agent = entry->copy();
    from.watcher->keepExported(agent, now);
    exposition.add(agent, now);
  }
  return exposition.take();
}

}  // namespace pingloom::collector
