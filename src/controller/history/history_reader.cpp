#include "controller/history/history_reader.h"

#include <pthread.h>
#include <sys/stat.h>

#include <utility>

#include "common/log.h"

namespace pingloom::controller {

HistoryReader::HistoryReader(std::filesystem::path file)
    : file_(std::move(file)), thread_([this] { run(); }) {
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
    log::warning("{}: some blocks are damaged; answers leave them out", file_.string());
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
  struct stat about {};
  if (::stat(file_.c_str(), &about) != 0) {
    history_.reset();
    return makeErrnoError(file_.string(), "cannot read", errno);
  }
  const Identity identity{about.st_dev, about.st_ino};
  if (history_ != nullptr && identity == identity_ && !history_->damaged()) return history_.get();
  history_.reset();
  auto opened = History::open(file_);
  if (!opened) return tl::unexpected(opened.error());
  history_ = std::move(*opened);
  identity_ = identity;
  return history_.get();
}

}  // namespace pingloom::controller
