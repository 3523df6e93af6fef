#include "collector/stores/tail_waiter.h"

#include <pthread.h>

#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/json_text.h"

namespace pingloom::collector {

http::Response tailResponse(const nlohmann::ordered_json& tail) {
  http::Response response;
  response.body = jsonLine(tail) + "\n";
  return response;
}

TailWaiter::TailWaiter(std::vector<NamedView> stores)
    : stores_(std::move(stores)), thread_([this] { run(); }) {}

TailWaiter::~TailWaiter() { stop(); }

void TailWaiter::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void TailWaiter::ask(TailQuestion question, Nanos until_mono, http::Respond respond) {
  std::unique_lock lock(mutex_);
  if (!stopped_ && waiting_.size() + looked_at_ < kMaxWaiting) {
    waiting_.push_back({std::move(question), until_mono, std::move(respond)});
    lock.unlock();
    changed_.notify_one();
    return;
  }
  const bool stopped = stopped_;
  lock.unlock();
  respond(stopped ? tailResponse(tailJson(stores_, question))
                  : http::errorResponse(503, "too many wait for entries; ask without wait"));
}

void TailWaiter::run() {
  pthread_setname_np(pthread_self(), "tails");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    auto taken = std::exchange(waiting_, {});
    looked_at_ = taken.size();
    const bool ends = stopped_;
    lock.unlock();
    taken = look(std::move(taken), ends ? kNever : monotonicNow());
    lock.lock();
    looked_at_ = 0;
    waiting_.insert(waiting_.end(), std::make_move_iterator(taken.begin()),
                    std::make_move_iterator(taken.end()));
    if (ends && waiting_.empty()) return;
    changed_.wait_for(lock, std::chrono::nanoseconds(kLookEvery), [this] { return stopped_; });
  }
}

std::vector<TailWaiter::Waiting> TailWaiter::look(std::vector<Waiting> waiting, Nanos now) const {
  std::vector<Waiting> others;
  for (Waiting& one : waiting) {
    const auto tail = tailJson(stores_, one.question);
    if (hasNews(tail) || now >= one.until) {
      one.respond(tailResponse(tail));
    } else {
      if (auto on = TailCursor::parse(tail["cursor"].get<std::string>())) {
        one.question.cursor = std::move(*on);
      }
      others.push_back(std::move(one));
    }
  }
  return others;
}

}  // namespace pingloom::collector
