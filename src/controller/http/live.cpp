#include "controller/http/live.h"

#include <algorithm>
#include <atomic>
#include <deque>

#include "controller/http/cells.h"
#include "controller/http/live_frames.h"
#include "controller/http/live_watch.h"
#include "controller/model/grid_plan.h"

namespace pingloom::controller {

namespace {

// A message of rows ends beyond this size. Rows share messages because a message costs a browser as
// much as many rows.
constexpr std::size_t kMessageBytes = 64UL * 1024;

}  // namespace

class Live::Viewer : public http::WebSocketSession {
 public:
  Viewer(std::shared_ptr<Live> live, std::function<void()> wake)
      : live_(std::move(live)), wake_(std::move(wake)) {
    live_->viewers_.push_back(this);
  }
  ~Viewer() override { std::erase(live_->viewers_, this); }

  void planChanged() {
    plan_due_ = true;
    queueSince(0);
  }

  void sourceChanged(std::uint32_t probe, std::uint32_t source) {
    if (probe != probe_ || queued_[source]) return;
    queued_[source] = true;
    queue_.push_back(source);
  }

  void verdictChanged() { verdict_due_ = true; }

  // Runs after every change, whether it concerns the viewer or not.
  void changed() {
    sync_due_ = true;
    wake_();
  }

  std::optional<http::Frame> next() override {
    if (plan_due_) {
      plan_due_ = false;
      return http::Frame{false, live_->plan_frame_};
    }
    if (verdict_due_) {
      verdict_due_ = false;
      return http::Frame{false, live_->verdict_frame_};
    }
    // The board may have rows of a newer plan that takeChanges() has not seen yet.
    if (!probe_ || live_->board_.plan() != live_->plan_) return std::nullopt;
    if (!queue_.empty()) return http::Frame{true, rowsFrame()};
    if (!sync_due_) return std::nullopt;
    sync_due_ = false;
    return http::Frame{true, liveSync(frame())};
  }

  bool received(std::string_view message) override {
    auto watch = parseLiveWatch(message);
    if (!watch) return false;
    watch_ = std::move(*watch);
    ++watches_;
    const bool resumes = watch_.epoch == std::to_string(live_->epoch_) &&
                         watch_.generation == live_->plan_->generation &&
                         watch_.sequence <= live_->sequence_;
    queueSince(resumes ? watch_.sequence + 1 : 0);
    sync_due_ = true;
    wake_();
    return true;
  }

  // A viewer cannot watch anything while the plan has no probes.
  bool inUse() const override { return watches_ != 0 || live_->plan_->probes.empty(); }

 private:
  LiveFrame frame() const {
    return {static_cast<std::uint32_t>(live_->plan_->generation), watches_, live_->sequence_};
  }

  // Queues all sources of the watched probe that have changed in this sequence or later.
  void queueSince(std::uint32_t sequence) {
    queue_.clear();
    probe_ = watches_ == 0 ? std::nullopt : probeNamed(*live_->plan_, watch_.probe);
    if (!probe_) return;
    const auto& changed = live_->changed_[*probe_];
    queued_.assign(changed.size(), false);
    for (std::uint32_t source = 0; source < changed.size(); ++source) {
      if (changed[source] >= sequence) sourceChanged(*probe_, source);
    }
  }

  std::string rowsFrame() {
    std::string out = liveRows(frame());
    do {
      appendRow(out);
    } while (!queue_.empty() && out.size() < kMessageBytes);
    return out;
  }

  void appendRow(std::string& out) {
    const std::uint32_t source = queue_.front();
    queue_.pop_front();
    queued_[source] = false;
    const GridPlan& plan = *live_->plan_;
    const auto snapshot = live_->board_.source(*probe_, source, plan.generation);
    appendLiveRow(out, *probe_, source, snapshot.get(),
                  live_->rows_.cells(plan, watch_.metric, *probe_, source, snapshot));
  }

  std::shared_ptr<Live> live_;
  std::function<void()> wake_;
  bool plan_due_ = true;
  bool verdict_due_ = true;
  bool sync_due_ = false;
  LiveWatch watch_;
  std::uint32_t watches_ = 0;           // counts watch messages; 0: watch_ is not valid
  std::optional<std::uint32_t> probe_;  // the watched one, if the plan has it
  std::vector<bool> queued_;            // by source
  std::deque<std::uint32_t> queue_;     // each source at most once
};

Live::Live(const Board& board) : board_(board), epoch_(static_cast<std::uint64_t>(utcNow())) {
  usePlan(std::make_shared<GridPlan>());
  verdict_frame_ = std::make_shared<const std::string>(liveVerdict(Verdict{}));
}

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
    self->feed_ = board.subscribe(wake, {.sources = true, .events = false, .paths = false});
    self->takeChanges();
  });
}

std::unique_ptr<http::WebSocketSession> Live::open(std::function<void()> wake) {
  return std::make_unique<Viewer>(shared_from_this(), std::move(wake));
}

void Live::usePlan(std::shared_ptr<const GridPlan> plan) {
  plan_ = std::move(plan);
  plan_frame_ = std::make_shared<const std::string>(livePlan(*plan_, epoch_));
  rows_.clear();
  changed_.clear();
  for (const ProbeGrid& grid : plan_->probes) changed_.emplace_back(grid.sources.size(), sequence_);
  for (Viewer* viewer : viewers_) viewer->planChanged();
}

void Live::takeChanges() {
  const Changes changes = feed_->take();
  ++sequence_;
  if (changes.plan) usePlan(board_.plan());
  if (changes.verdict) {
    verdict_frame_ = std::make_shared<const std::string>(liveVerdict(*board_.verdict()));
    for (Viewer* viewer : viewers_) viewer->verdictChanged();
  }
  for (const auto& [probe, source] : changes.sources) {
    if (probe >= changed_.size() || source >= changed_[probe].size()) continue;
    changed_[probe][source] = sequence_;
    for (Viewer* viewer : viewers_) viewer->sourceChanged(probe, source);
  }
  for (Viewer* viewer : viewers_) viewer->changed();
}

}  // namespace pingloom::controller
