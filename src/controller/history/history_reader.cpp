#include "controller/history/history_reader.h"

#include <pthread.h>
#include <sys/stat.h>

#include <utility>

#include "common/log.h"

namespace pingloom::controller {

HistoryReader::HistoryReader(HistoryPlace place)
    : place_(std::move(place)), thread_([this] { run(); }) {
  pthread_setname_np(thread_.native_handle(), "history");
}

void HistoryReader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool HistoryReader::ask(Query query) {
  {
    const std::lock_guard lock(mutex_);
    if (stop_ || waiting_.size() >= kMaxWaiting) return false;
    waiting_.push_back(std::move(query));
  }
  wake_.notify_one();
  return true;
}

void HistoryReader::reportDamaged(std::uint64_t blocks) {
  if (blocks > 0 && !damage_said_.exchange(true)) {
    log::warning("{}: some blocks are damaged; answers leave them out", place_.text());
  }
}

void HistoryReader::run() {
  for (;;) {
    Query query;
    bool stop = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      query = std::move(waiting_.front());
      waiting_.pop_front();
      stop = stop_;
    }
    if (stop) {
      query(makeError("history", "the controller is shutting down"));
    } else {
      query(opened());
    }
  }
}

Result<History*> HistoryReader::opened() {
  if (!place_.postgres()) {
    if (auto status = follow(); !status) return tl::unexpected(status.error());
  }
  if (history_ != nullptr && history_->usable()) return history_.get();
  history_.reset();
  auto opened = History::open(place_);
  if (!opened) return tl::unexpected(opened.error());
  history_ = std::move(*opened);
  return history_.get();
}

Status HistoryReader::follow() {
  struct stat about {};
  if (::stat(place_.file().c_str(), &about) != 0) {
    history_.reset();
    return makeErrnoError(place_.text(), "cannot read", errno);
  }
  const Identity identity{about.st_dev, about.st_ino};
  if (identity != identity_) history_.reset();
  identity_ = identity;
  return {};
}

}  // namespace pingloom::controller
