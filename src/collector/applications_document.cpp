#include "collector/applications_document.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "collector/watch/watch_json.h"
#include "collector/watch/watcher.h"
#include "common/json_text.h"

namespace pingloom::collector {
namespace {

using DocumentJson = nlohmann::ordered_json;

// The pages of one owner together.
struct OwnerSum {
  const PageInfo* info = nullptr;  // that of its first page
  std::size_t pages = 0, metrics = 0;
  PageState worst = PageState::kUnread;
};

// How far a state is from a page whose values are current.
int badness(PageState state) {
  switch (state) {
    case PageState::kFresh:
      return 0;
    case PageState::kTorn:
      return 1;
    case PageState::kUnread:
      return 2;
    case PageState::kStale:
      return 3;
    case PageState::kCorrupt:
      break;
  }
  return 4;
}

std::map<std::uint64_t, OwnerSum> sumsByOwner(const AgentView& agent) {
  std::map<std::uint64_t, OwnerSum> owners;
  for (const PageView& page : agent.pages) {
    OwnerSum& owner = owners[page.info->owner];
    if (owner.info == nullptr) {
      owner.info = page.info.get();
      owner.worst = page.state;
    }
    if (badness(page.state) > badness(owner.worst)) owner.worst = page.state;
    ++owner.pages;
    owner.metrics += page.info->schema.size();
  }
  return owners;
}

// Returns the deviation with the largest score, or null.
DocumentJson largest(const WatchState& state) {
  const auto found = std::max_element(
      state.deviations.begin(), state.deviations.end(),
      [](const Deviation& a, const Deviation& b) { return std::abs(a.score) < std::abs(b.score); });
  return found == state.deviations.end() ? DocumentJson(nullptr) : deviationJson(*found);
}

DocumentJson ownerJson(const AgentView& agent, const OwnerSum& owner, const WatchState* state) {
  const bool judged = state != nullptr && state->judged;
  return {{"host", agent.host},
          {"agent", agent.agent},
          {"application", owner.info->application},
          {"pid", owner.info->process},
          {"owner", owner.info->owner},
          {"pages", owner.pages},
          {"metrics", owner.metrics},
          {"state", name(owner.worst)},
          {"anomalous", state != nullptr && state->anomalous},
          {"score", judged ? DocumentJson(state->score) : DocumentJson(nullptr)},
          {"deviation", state == nullptr ? DocumentJson(nullptr) : largest(*state)}};
}

}  // namespace

http::Response applicationsDocument(const Board& board, const Watcher* watcher,
                                    const http::Request& request) {
  if (auto refused = http::refusedParameter(request, {})) return std::move(*refused);
  // The count is taken first, so that an event that comes meanwhile is asked for next time.
  const std::uint64_t events = watcher == nullptr ? 0 : watcher->eventsLogged();
  DocumentJson list = DocumentJson::array();
  for (const auto& entry : board.entries()) {
    const AgentView agent = entry->copy();
    const auto states =
        watcher == nullptr ? std::map<std::uint64_t, WatchState>() : watcher->states(agent);
    for (const auto& [number, owner] : sumsByOwner(agent)) {
      const auto state = states.find(number);
      list.push_back(ownerJson(agent, owner, state == states.end() ? nullptr : &state->second));
    }
  }
  http::Response response;
  response.body =
      jsonLine(DocumentJson{
          {"watched", watcher != nullptr}, {"events", events}, {"applications", std::move(list)}}) +
      "\n";
  return response;
}

}  // namespace pingloom::collector
