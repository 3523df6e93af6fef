// Pushes the collector's metrics to the configured targets. Any thread, except that reload(), end()
// and the destructor belong to one.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "collector/push/push_config.h"
#include "collector/push/pusher.h"
#include "common/metrics_writer.h"
#include "common/time.h"

namespace pingloom::collector {

class PushService {
 public:
  // `instance` identifies this collector in what is pushed.
  PushService(std::string instance, RenderMetrics render)
      : instance_(std::move(instance)), render_(std::move(render)) {}

  ~PushService() { end(); }
  PushService(const PushService&) = delete;
  PushService& operator=(const PushService&) = delete;

  // Starts the targets, and ends those that have changed or are gone.
  void reload(const PushSettings& settings);
  // Ends all targets: stops each of them before it waits for any.
  void end();
  // Writes the figures of all targets; `now` is monotonic.
  void metrics(MetricsWriter& out, Nanos now) const;

 private:
  // Replaces the target's pusher unless it already is as it should be.
  template <typename Format>
  void setTarget(std::unique_ptr<Pusher>& pusher, const char* name,
                 const std::optional<PushTarget>& target);

  const std::string instance_;
  const RenderMetrics render_;
  mutable std::mutex mutex_;  // guards the pointers
  std::unique_ptr<Pusher> remote_write_;
  std::unique_ptr<Pusher> otlp_;
};

}  // namespace pingloom::collector
