#include "controller/verdict/fabric_watch.h"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "controller/model/grid_plan.h"

namespace pingloom::controller {

FabricWatch::FabricWatch(Board& board) : board_(board), thread_([this] { run(); }) {
  pthread_setname_np(thread_.native_handle(), "fabric");
}

FabricWatch::~FabricWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

bool FabricWatch::ready(Nanos now_mono) const {
  const std::lock_guard lock(mutex_);
  return !busy_ && now_mono >= due_mono_;
}

void FabricWatch::begin(Work work, Nanos now_mono) {
  {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    begun_mono_ = now_mono;
    busy_ = true;
  }
  wake_.notify_one();
}

std::optional<FabricReport> FabricWatch::takeReport() {
  const std::lock_guard lock(mutex_);
  return std::exchange(report_, std::nullopt);
}

std::vector<CoverPairs> FabricWatch::takeChosen() {
  const std::lock_guard lock(mutex_);
  return std::exchange(chosen_, {});
}

void FabricWatch::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || work_; });
    if (stop_) return;
    const Work work = *std::exchange(work_, std::nullopt);
    lock.unlock();
    const Nanos started = monotonicNow();
    FabricReport report = look(work);
    const Nanos took = monotonicNow() - started;
    lock.lock();
    report_ = std::move(report);
    due_mono_ = begun_mono_ + took + std::max(kPause, 9 * took);
    busy_ = false;
  }
}

void FabricWatch::watchCover() {
  CoverWatch::Seen seen = cover_.look(plan_, *map_, paths_, monotonicNow());
  if (seen.cover != nullptr) board_.publishCover(std::move(seen.cover));
  const std::lock_guard lock(mutex_);
  std::move(seen.chosen.begin(), seen.chosen.end(), std::back_inserter(chosen_));
}

FabricReport FabricWatch::look(const Work& work) {
  const std::shared_ptr<const GridPlan> plan = board_.plan();
  const std::uint64_t version = board_.paths().version();
  if (map_ == nullptr || map_->version != version || plan_ != plan) {
    paths_ = board_.paths().all();
    map_ = mapFabric(paths_, version, switchNames(*plan));
    plan_ = plan;
    board_.publishFabric(map_);
  }
  watchCover();
  return judge_.judge({work.places, work.sources, map_, paths_, work.bursts});
}

}  // namespace pingloom::controller
