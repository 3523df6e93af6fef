#include "controller/http/live.h"

#include <algorithm>
#include <atomic>
#include <deque>

#include "controller/http/live_frames.h"

namespace pingloom::controller {

class Live::Viewer : public http::WebSocketSession {
 public:
  Viewer(std::shared_ptr<Live> live, std::function<void()> wake)
      : live_(std::move(live)), wake_(std::move(wake)) {
    live_->viewers_.push_back(this);
    planChanged();
  }
  ~Viewer() override { std::erase(live_->viewers_, this); }

  void planChanged() {
    plan_due_ = true;
    const std::uint32_t sources = live_->first_source_.back();
    queued_.assign(sources, true);
    queue_.resize(sources);
    for (std::uint32_t i = 0; i < sources; ++i) queue_[i] = i;
  }

  void sourceChanged(std::uint32_t number) {
    if (queued_[number]) return;
    queued_[number] = true;
    queue_.push_back(number);
  }

  void wake() { wake_(); }

  std::optional<http::Frame> next() override {
    if (plan_due_) {
      plan_due_ = false;
      return http::Frame{false, live_->plan_frame_};
    }
    // What the board has by now may belong to a plan that takeChanges() has not seen yet.
    if (queue_.empty() || live_->board_.plan() != live_->plan_) return std::nullopt;
    const std::uint32_t number = queue_.front();
    queue_.pop_front();
    queued_[number] = false;
    return http::Frame{true, rowFrame(number)};
  }

  // A viewer has nothing to say.
  bool received(std::string_view) override { return false; }

 private:
  std::string rowFrame(std::uint32_t number) const {
    const auto& first = live_->first_source_;
    const auto after = std::upper_bound(first.begin(), first.end(), number);
    const auto probe = static_cast<std::uint32_t>(after - first.begin() - 1);
    const std::uint32_t source = number - first[probe];
    const GridPlan& plan = *live_->plan_;
    return liveRow(plan, probe, source, live_->board_.source(probe, source, plan.generation).get());
  }

  std::shared_ptr<Live> live_;
  std::function<void()> wake_;
  bool plan_due_ = false;
  std::vector<bool> queued_;         // by source number
  std::deque<std::uint32_t> queue_;  // each source at most once
};

Live::Live(const Board& board) : board_(board) { usePlan(std::make_shared<GridPlan>()); }

void Live::start(Board& board, const http::TaskQueue& tasks) {
  const auto pending = std::make_shared<std::atomic<bool>>(false);
  auto wake = [pending, tasks, weak = weak_from_this()] {
    if (pending->exchange(true)) return;
    tasks.postAfter(kGather, [pending, weak] {
      pending->store(false);
      if (const auto self = weak.lock()) self->takeChanges();
    });
  };
  tasks.post([weak = weak_from_this(), &board, wake = std::move(wake)] {
    const auto self = weak.lock();
    if (!self) return;
    self->feed_ = board.subscribe(wake);
    self->takeChanges();
  });
}

std::unique_ptr<http::WebSocketSession> Live::open(std::function<void()> wake) {
  return std::make_unique<Viewer>(shared_from_this(), std::move(wake));
}

void Live::usePlan(std::shared_ptr<const GridPlan> plan) {
  plan_ = std::move(plan);
  plan_frame_ = livePlan(*plan_);
  first_source_.assign(1, 0);
  for (const ProbeGrid& grid : plan_->probes) {
    first_source_.push_back(first_source_.back() + static_cast<std::uint32_t>(grid.sources.size()));
  }
  for (Viewer* viewer : viewers_) viewer->planChanged();
}

void Live::takeChanges() {
  const Changes changes = feed_->take();
  if (changes.plan) usePlan(board_.plan());
  for (const auto& [probe, source] : changes.sources) {
    if (probe >= plan_->probes.size() || source >= plan_->probes[probe].sources.size()) continue;
    const std::uint32_t number = first_source_[probe] + source;
    for (Viewer* viewer : viewers_) viewer->sourceChanged(number);
  }
  for (Viewer* viewer : viewers_) viewer->wake();
}

}  // namespace pingloom::controller
