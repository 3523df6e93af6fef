// Divides the agents among the readers. An agent stays with its reader for as long as it is read,
// so that others may come and go without disturbing it. One thread at a time.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "collector/agent_session.h"

namespace pingloom::collector {

class ReaderShares {
 public:
  // REQUIRES: readers > 0.
  explicit ReaderShares(std::size_t readers) : readers_(readers) {}

  // Returns the agents of each reader. A new agent goes to the reader with the fewest rounds per
  // second. REQUIRES: no agent is there twice, and intervals are positive.
  std::vector<std::vector<AgentSpec>> share(std::vector<AgentSpec> agents);

 private:
  const std::size_t readers_;
  std::map<std::string, std::size_t> reader_of_;  // by agent, for those of the last share()
};

}  // namespace pingloom::collector
