#include "collector/reader_shares.h"

#include <algorithm>
#include <utility>

namespace pingloom::collector {
namespace {

double roundsPerSecond(const AgentSpec& agent) {
  return static_cast<double>(kSecond) / static_cast<double>(agent.interval);
}

}  // namespace

std::vector<std::vector<AgentSpec>> ReaderShares::share(std::vector<AgentSpec> agents) {
  std::vector<std::vector<AgentSpec>> shares(readers_);
  std::vector<double> load(readers_);
  std::map<std::string, std::size_t> reader_of;
  std::vector<AgentSpec> fresh;
  const auto give = [&](AgentSpec agent, std::size_t reader) {
    load[reader] += roundsPerSecond(agent);
    reader_of.emplace(agent.agent, reader);
    shares[reader].push_back(std::move(agent));
  };
  for (AgentSpec& agent : agents) {
    const auto known = reader_of_.find(agent.agent);
    if (known == reader_of_.end()) {
      fresh.push_back(std::move(agent));
    } else {
      give(std::move(agent), known->second);
    }
  }
  for (AgentSpec& agent : fresh) {
    const auto least = std::min_element(load.begin(), load.end());
    give(std::move(agent), static_cast<std::size_t>(least - load.begin()));
  }
  reader_of_ = std::move(reader_of);
  return shares;
}

}  // namespace pingloom::collector
