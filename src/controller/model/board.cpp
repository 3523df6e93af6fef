#include "controller/model/board.h"

#include <algorithm>
#include <utility>

namespace pingloom::controller {
namespace {

std::uint64_t keyOf(std::uint32_t probe, std::uint32_t source) {
  return (std::uint64_t{probe} << 32) | source;
}

}  // namespace

Changes Feed::take() {
  const std::lock_guard lock(mutex_);
  dirty_.clear();
  return std::exchange(waiting_, Changes{});
}

void Board::publishPlan(std::shared_ptr<const GridPlan> plan, Sources sources) {
  sources.resize(plan->probes.size());
  for (std::size_t i = 0; i < sources.size(); ++i)
    sources[i].resize(plan->probes[i].sources.size());
  Feeds feeds;
  {
    const std::lock_guard lock(mutex_);
    plan_ = std::move(plan);
    sources_.swap(sources);
    feeds = liveFeeds();
  }
  for (const auto& feed : feeds) {
    {
      const std::lock_guard lock(feed->mutex_);
      feed->waiting_.plan = true;
      feed->waiting_.sources.clear();
      feed->dirty_.clear();
    }
    feed->wake_();
  }
}

void Board::publishSource(std::uint32_t probe, std::uint32_t source,
                          std::shared_ptr<const SourceSnapshot> snapshot) {
  Feeds feeds;
  {
    const std::lock_guard lock(mutex_);
    if (probe >= sources_.size() || source >= sources_[probe].size()) return;
    sources_[probe][source].swap(snapshot);
    feeds = liveFeeds(&FeedTopics::sources);
  }
  for (const auto& feed : feeds) {
    {
      const std::lock_guard lock(feed->mutex_);
      if (feed->dirty_.insert(keyOf(probe, source)).second) {
        feed->waiting_.sources.emplace_back(probe, source);
      }
    }
    feed->wake_();
  }
}

void Board::publishEvents(const std::vector<StateEvent>& events) {
  if (events.empty()) return;
  Feeds feeds;
  {
    const std::lock_guard lock(mutex_);
    feeds = liveFeeds(&FeedTopics::events);
  }
  for (const auto& feed : feeds) {
    {
      const std::lock_guard lock(feed->mutex_);
      feed->addEvents(events);
    }
    feed->wake_();
  }
}

void Board::publishVerdict(std::shared_ptr<const Verdict> verdict) {
  Feeds feeds;
  {
    const std::lock_guard lock(mutex_);
    verdict_.swap(verdict);
    feeds = liveFeeds();
  }
  for (const auto& feed : feeds) {
    {
      const std::lock_guard lock(feed->mutex_);
      feed->waiting_.verdict = true;
    }
    feed->wake_();
  }
}

PathBoard::Taken Board::publishPath(TracedPath&& traced, bool elsewhere) {
  PathBoard::Taken taken = paths_.take(std::move(traced), elsewhere);
  if (taken.known == nullptr) return taken;
  Feeds feeds;
  {
    const std::lock_guard lock(mutex_);
    feeds = liveFeeds(&FeedTopics::paths);
  }
  for (const auto& feed : feeds) {
    {
      const std::lock_guard lock(feed->mutex_);
      feed->addPath(taken.known);
    }
    feed->wake_();
  }
  return taken;
}

void Board::publishFabric(std::shared_ptr<const FabricMap> map) {
  const std::lock_guard lock(mutex_);
  fabric_.swap(map);
}

void Board::publishCover(std::shared_ptr<const FabricCover> cover) {
  const std::lock_guard lock(mutex_);
  cover_.swap(cover);
}

void Board::publishLatency(std::shared_ptr<const LatencySnapshot> latency) {
  const std::lock_guard lock(mutex_);
  latency_.swap(latency);
}

void Board::publishHosts(std::shared_ptr<const Hosts> hosts) {
  const std::lock_guard lock(mutex_);
  hosts_.swap(hosts);
}

void Board::publishControl(std::shared_ptr<const ControlStatus> status) {
  const std::lock_guard lock(mutex_);
  control_.swap(status);
}

void Board::publishRedis(std::shared_ptr<const RedisStatus> status) {
  const std::lock_guard lock(mutex_);
  redis_.swap(status);
}

void Board::publishAlerts(std::shared_ptr<const AlertStatuses> statuses) {
  const std::lock_guard lock(mutex_);
  alerts_.swap(statuses);
}

void Board::publishCluster(std::shared_ptr<const ClusterStatus> status) {
  const std::lock_guard lock(mutex_);
  cluster_.swap(status);
}

std::shared_ptr<const GridPlan> Board::plan() const {
  const std::lock_guard lock(mutex_);
  return plan_;
}

std::vector<std::shared_ptr<const SourceSnapshot>> Board::sources(std::uint32_t probe,
                                                                  std::uint64_t generation) const {
  const std::lock_guard lock(mutex_);
  if (generation != plan_->generation || probe >= sources_.size()) return {};
  return sources_[probe];
}

std::shared_ptr<const SourceSnapshot> Board::source(std::uint32_t probe, std::uint32_t source,
                                                    std::uint64_t generation) const {
  const std::lock_guard lock(mutex_);
  if (generation != plan_->generation || probe >= sources_.size() ||
      source >= sources_[probe].size()) {
    return nullptr;
  }
  return sources_[probe][source];
}

std::shared_ptr<const Verdict> Board::verdict() const {
  const std::lock_guard lock(mutex_);
  return verdict_;
}

std::shared_ptr<const FabricMap> Board::fabric() const {
  const std::lock_guard lock(mutex_);
  return fabric_;
}

std::shared_ptr<const FabricCover> Board::cover() const {
  const std::lock_guard lock(mutex_);
  return cover_;
}

std::shared_ptr<const LatencySnapshot> Board::latency() const {
  const std::lock_guard lock(mutex_);
  return latency_;
}

std::shared_ptr<const Hosts> Board::hosts() const {
  const std::lock_guard lock(mutex_);
  return hosts_;
}

std::shared_ptr<const ControlStatus> Board::control() const {
  const std::lock_guard lock(mutex_);
  return control_;
}

std::shared_ptr<const RedisStatus> Board::redis() const {
  const std::lock_guard lock(mutex_);
  return redis_;
}

std::shared_ptr<const AlertStatuses> Board::alerts() const {
  const std::lock_guard lock(mutex_);
  return alerts_;
}

std::shared_ptr<const ClusterStatus> Board::cluster() const {
  const std::lock_guard lock(mutex_);
  return cluster_;
}

std::shared_ptr<Feed> Board::subscribe(std::function<void()> wake, FeedTopics topics) {
  auto feed = std::make_shared<Feed>(std::move(wake), topics);
  feed->waiting_.plan = true;
  feed->waiting_.verdict = true;
  feed->waiting_.all_paths = topics.paths;
  const std::lock_guard lock(mutex_);
  std::erase_if(feeds_, [](const auto& held) { return held.expired(); });
  feeds_.push_back(feed);
  return feed;
}

Board::Feeds Board::liveFeeds(bool FeedTopics::*topic) const {
  Feeds live;
  live.reserve(feeds_.size());
  for (const auto& held : feeds_) {
    auto feed = held.lock();
    if (feed != nullptr && (topic == nullptr || feed->topics_.*topic)) {
      live.push_back(std::move(feed));
    }
  }
  return live;
}

void Feed::addEvents(const std::vector<StateEvent>& events) {
  std::deque<StateEvent>& waiting = waiting_.events;
  const std::size_t total = waiting.size() + events.size();
  const std::size_t excess = total > kMaxEvents ? total - kMaxEvents : 0;
  waiting_.events_dropped += excess;
  const std::size_t old = std::min(excess, waiting.size());
  waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(old));
  waiting.insert(waiting.end(), events.begin() + static_cast<std::ptrdiff_t>(excess - old),
                 events.end());
}

void Feed::addPath(const std::shared_ptr<const KnownPath>& path) {
  if (waiting_.all_paths) return;
  if (waiting_.paths.size() >= kMaxPaths) {
    waiting_.paths.clear();
    waiting_.all_paths = true;
    return;
  }
  waiting_.paths.push_back(path);
}

}  // namespace pingloom::controller
