// Applications show their metrics on pages of their own, or serve them from an endpoint each.
#include <string>
#include <vector>

#include "cost_rounds.h"
#include "endpoint_host.h"
#include "page_host.h"

namespace pingloom::bench {

double applicationsOnPages(const Load& load) {
  const PageHost host(0, {load.count, kSeries});
  return costOfPages(host.agent(), load, [&] { return host.cpu(); });
}

double applicationsScraped(const Load& load) {
  const auto host = startEndpoints({load.count, kSeries});
  std::vector<std::string> urls;
  urls.reserve(static_cast<std::size_t>(load.count));
  for (int i = 0; i < load.count; ++i) urls.push_back(endpointUrl(i));
  return costOfScrapes(urls, "bench_metric_", load, [&] { return host->usage().cpu; });
}

}  // namespace pingloom::bench
