// All pages and metrics of one pingloom_pages, and the thread that sends heartbeats and keeps the
// session with the agent.
// Any thread may call. creating_ is held while a metric is created, which may wait for the agent.
// mutex_ guards the members declared below it and is never held while waiting.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "pages/client/session.h"

namespace pingloom::pages::client {

// The application's callback for problems in the background; see pingloom_pages_options.
struct Listener {
  void (*on_error)(void* context, int error, const char* text) = nullptr;
  void* context = nullptr;
};

// What is called before each heartbeat; see pingloom_pages_on_heartbeat.
struct HeartbeatCallback {
  void (*call)(void* context) = nullptr;
  void* context = nullptr;
};

class Pages {
 public:
  Pages(std::string socket, const std::string& application, CommonLabels labels, Listener listener);
  ~Pages();  // ends the thread
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  // What a handle needs. The bounds live as long as the Pages, or until the metric's slots are
  // given to another one.
  struct Placed {
    std::uint64_t* slots = nullptr;
    pingloom_histogram_shape shape{};
    const double* bounds = nullptr;
    std::size_t bound_count = 0;
  };
  Outcome makeMetric(const pingloom_metric& metric, const Form& form,
                     const std::vector<double>& bounds, Placed* placed);
  // Finds the exemplars of the metric with this name and these labels.
  Outcome exemplarsOf(const pingloom_metric& metric, pingloom_exemplars* exemplars);
  // Removes the metric with this name and these labels.
  Outcome removeMetric(const pingloom_metric& metric);
  Outcome makeGroup(pingloom_page** page);
  void status(pingloom_pages_status* status);
  void report(Outcome trouble);  // like one in the background
  void onHeartbeat(HeartbeatCallback callback);
  std::uint32_t keepOneIn() const;  // as in the header of a page; it takes no lock

  // fork.cpp calls these around fork(): no operation is in progress meanwhile, and the child gets
  // its own pages.
  void holdForFork();
  void continueAfterFork();
  void startAnewInChild();

 private:
  struct Metric {
    Page* page;
    MetricNumber number;  // on the page
  };
  struct Family {
    pingloom_metric_kind kind;
    double unit;
    std::size_t metrics = 0;
  };

  // Defined in pages_make.cpp. REQUIRES: creating_ is held.
  Outcome addMetric(const pingloom_group* group, Definition definition, Metric* made);
  bool removeKnown(const std::string& key);
  // Calls `use(key)` for each key that the metric with this name and these labels may have.
  template <typename Use>
  Outcome forEachKey(const pingloom_metric& metric, Use use);
  Outcome pageFor(const pingloom_group* group, const Definition& definition, Page** page);
  Outcome newPage(std::uint16_t flags, Page** page);
  Outcome pageFromAgent(std::uint16_t flags, Page** page);
  Page* groupPage(const pingloom_group* group) const;

  void startThread();
  void stopThread();
  void wake() const;
  void run();
  // `lock` is of mutex_; it is released while the callback runs.
  void beat(std::unique_lock<std::mutex>& lock);
  void keepTroubles(std::vector<Outcome> troubles, std::vector<Outcome>* news);

  const CommonLabels labels_;
  const Listener listener_;
  std::mutex creating_;
  // keyed by Definition::key(); changed only under creating_
  std::map<std::string, Metric> metrics_;
  std::map<std::string, Family> families_;  // keyed by name
  std::uint32_t next_number_ = 1;

  std::mutex mutex_;
  std::condition_variable answered_;
  PageList pages_;                                          // never shrinks
  std::atomic<const pingloom_page*> first_page_ = nullptr;  // stays where it is
  Session session_;
  UniqueFd wakeup_;  // an eventfd
  Instant next_beat_{};
  HeartbeatCallback on_heartbeat_;
  bool calling_ = false;  // whether the callback runs
  bool stop_ = false;
  Outcome last_trouble_;
  std::set<std::string> reported_;
  bool has_thread_ = false;
  pthread_t thread_{};
};

}  // namespace pingloom::pages::client
