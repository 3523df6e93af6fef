// Pushes metrics to one target, on a thread of its own: it renders them every interval and sends
// what waits in between, one request at a time. Neither delays reading or scraping by more than a
// scrape does. A request may take as long as an interval and at most kMaxTimeout, so metrics are
// rendered late by no more than that.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "collector/push/push_config.h"
#include "collector/push/push_format.h"
#include "collector/push/push_queue.h"

namespace pingloom::collector {

// Renders all metrics; `exact_histograms` as in MetricsSources. Any thread.
using RenderMetrics =
    std::function<std::string(const Exposition::MakeWriter&, bool exact_histograms)>;

class Pusher {
 public:
  static constexpr Nanos kMaxTimeout = 30 * kSecond;

  // `name` is the target's in logs and metrics.
  Pusher(std::string name, PushTarget target, std::unique_ptr<PushFormat> format,
         RenderMetrics render);
  // Stops, waits for the thread, and logs how much that waited is lost.
  ~Pusher();
  Pusher(const Pusher&) = delete;
  Pusher& operator=(const Pusher&) = delete;

  const std::string& name() const { return name_; }
  const PushTarget& target() const { return target_; }
  // Cancels a request in flight; nothing is rendered or sent any more. Does not wait. Any thread.
  void stop();
  // Any thread.
  PushFigures figures() const;

 private:
  void run();
  void render(Nanos now);
  Result<http::ClientResponse> send(const PushRequest& request) const;

  const std::string name_;
  const PushTarget target_;
  const std::unique_ptr<PushFormat> format_;
  const RenderMetrics render_;
  PushQueue queue_;  // changed by the thread only, under the mutex
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace pingloom::collector
