// All pages and metrics of one pingloom_pages, and the thread that keeps them: heartbeats and the
// session with the agent.
//
// Any thread may call. creating_ is held while a metric is made (that may wait for the agent),
// mutex_ for everything below it, never while anything waits.
#pragma once

#include <pthread.h>

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

// Whoever wants to know what goes wrong in the background; see pingloom_pages_options.
struct Listener {
  void (*on_error)(void* context, int error, const char* text) = nullptr;
  void* context = nullptr;
};

class Pages {
 public:
  Pages(std::string socket, const std::string& application, std::vector<Label> labels,
        Listener listener);
  ~Pages();  // ends the thread
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  // The first of the metric's slots.
  Outcome makeMetric(const pingloom_metric& metric, pingloom_metric_kind kind, bool shared,
                     std::uint64_t** slots, pingloom_histogram_shape* shape);
  Outcome makeGroup(pingloom_page** page);
  void status(pingloom_pages_status* status);

  // Around fork(), fork.cpp: nothing is half done, then the child gets pages of its own.
  void holdForFork();
  void continueAfterFork();
  void startAnewInChild();

 private:
  struct Metric {
    Page* page;
    std::size_t index;  // on the page
  };
  struct Family {
    pingloom_metric_kind kind;
    double unit;
  };

  // pages_make.cpp. REQUIRES creating_.
  Outcome addMetric(const pingloom_group* group, Definition definition, Metric* made);
  Outcome pageFor(const pingloom_group* group, const Definition& definition, Page** page);
  Outcome newPage(std::uint16_t flags, Page** page);
  Outcome pageFromAgent(std::uint16_t flags, Page** page);
  Page* groupPage(const pingloom_group* group) const;

  void startThread();
  void stopThread();
  void wake() const;
  void run();
  void beat(Instant now);
  void keepTroubles(std::vector<Outcome> troubles, std::vector<Outcome>* news);

  const std::vector<Label> labels_;
  const Listener listener_;
  std::mutex creating_;
  std::map<std::string, Metric> metrics_;   // by Definition::key(); changed under creating_
  std::map<std::string, Family> families_;  // by name
  std::uint32_t next_number_ = 1;

  std::mutex mutex_;
  std::condition_variable answered_;
  PageList pages_;  // only ever grows
  Session session_;
  UniqueFd wakeup_;  // an eventfd
  Instant next_beat_{};
  bool stop_ = false;
  Outcome last_trouble_;
  std::set<std::string> reported_;
  bool has_thread_ = false;
  pthread_t thread_{};
};

}  // namespace pingloom::pages::client
