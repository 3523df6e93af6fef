#include "agent/endpoint_keeper.h"

#include <algorithm>
#include <utility>

#include "common/log.h"

namespace pingloom::agent {

Status EndpointKeeper::take(const wire::EndpointUpdate& update, Nanos now_mono) {
  auto next = plan::apply(update, held_);
  if (!next) return tl::unexpected(next.error());
  held_ = std::move(*next);
  save_due_ = std::min(save_due_, now_mono + kSavePause);
  return {};
}

bool EndpointKeeper::setOwn(std::vector<plan::Endpoint> own) {
  if (own == own_) return false;
  own_ = std::move(own);
  return true;
}

std::shared_ptr<const plan::EndpointTable> EndpointKeeper::table() const {
  const auto known = [this](const plan::Endpoint& endpoint) {
    const auto found = held_.table->find(endpoint.address);
    return found != held_.table->end() && found->second == endpoint;
  };
  if (std::all_of(own_.begin(), own_.end(), known)) return held_.table;
  auto laid_over = std::make_shared<plan::EndpointTable>(*held_.table);
  for (const plan::Endpoint& endpoint : own_) {
    laid_over->insert_or_assign(endpoint.address, endpoint);
  }
  return laid_over;
}

void EndpointKeeper::save() {
  if (std::exchange(save_due_, kNever) == kNever) return;
  const auto status = state_.saveEndpoints(held_);
  if (!status && !std::exchange(failure_logged_, true)) {
    log::error("{}; after a restart this agent waits for the controller's endpoints",
               status.error().text());
  }
}

}  // namespace pingloom::agent
