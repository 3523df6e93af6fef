#include "controller/http/live_watch.h"

#include <sstream>

namespace pingloom::controller {

std::optional<LiveWatch> parseLiveWatch(std::string_view message) {
  constexpr std::size_t kMax = 256;
  if (message.size() > kMax) return std::nullopt;
  std::istringstream words{std::string(message)};
  std::string command;
  std::string metric_name;
  LiveWatch watch;
  if (!(words >> command >> watch.probe >> metric_name) || command != "watch") return std::nullopt;
  const auto metric = Metric::parse(metric_name);
  if (!metric) return std::nullopt;
  watch.metric = *metric;
  if (words >> watch.epoch && !(words >> watch.generation >> watch.sequence)) return std::nullopt;
  std::string more;
  if (words >> more) return std::nullopt;
  return watch;
}

}  // namespace pingloom::controller
