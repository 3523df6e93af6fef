// Long polls: questions for entries of lists that have not come yet. A thread of its own looks for
// them every kLookEvery and answers; it sleeps while nobody waits. Any thread may call ask() and
// stop().
#pragma once

#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "collector/stores/store_tail.h"
#include "common/time.h"
#include "http/message.h"

namespace pingloom::collector {

class TailWaiter {
 public:
  static constexpr std::size_t kMaxWaiting = 64;  // a further one is answered 503
  static constexpr Nanos kLookEvery = 10 * kMillisecond;

  // REQUIRES: the stores outlive this.
  explicit TailWaiter(std::vector<NamedView> stores);
  ~TailWaiter();
  TailWaiter(const TailWaiter&) = delete;
  TailWaiter& operator=(const TailWaiter&) = delete;

  // Calls `respond` once, on any thread: when there is news, or with what there is at `until`.
  // REQUIRES: checkTail().
  void ask(TailQuestion question, Nanos until_mono, http::Respond respond);
  // Answers all questions now, and later ones at once. The HTTP server must still run.
  void stop();

 private:
  struct Waiting {
    TailQuestion question;
    Nanos until = 0;
    http::Respond respond;
  };
  void run();
  // Answers those that have news or are due, and returns the others.
  std::vector<Waiting> look(std::vector<Waiting> waiting, Nanos now) const;

  const std::vector<NamedView> stores_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Waiting> waiting_;  // these two are guarded by the mutex
  bool stopped_ = false;
  std::size_t looked_at_ = 0;  // questions that the thread has taken out; guarded likewise
  std::thread thread_;
};

// The answer with a document.
http::Response tailResponse(const nlohmann::ordered_json& tail);

}  // namespace pingloom::collector
