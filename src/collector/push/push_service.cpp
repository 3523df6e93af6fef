#include "collector/push/push_service.h"

#include <algorithm>
#include <utility>

#include "collector/push/otlp.h"
#include "collector/push/remote_write.h"

namespace pingloom::collector {

void PushService::end() {
  for (Pusher* pusher : {remote_write_.get(), otlp_.get()}) {
    if (pusher != nullptr) pusher->stop();
  }
  reload({});
}

template <typename Format>
void PushService::setTarget(std::unique_ptr<Pusher>& pusher, const char* name,
                            const std::optional<PushTarget>& target) {
  if (pusher == nullptr ? !target.has_value() : target == pusher->target()) return;
  std::unique_ptr<Pusher> other;
  if (target) {
    other = std::make_unique<Pusher>(name, *target, std::make_unique<Format>(instance_), render_);
  }
  {
    const std::lock_guard lock(mutex_);
    pusher.swap(other);
  }
  // The former one ends here, outside the lock, because it may be rendering these metrics.
}

void PushService::reload(const PushSettings& settings) {
  setTarget<RemoteWrite>(remote_write_, "remote_write", settings.remote_write);
  setTarget<Otlp>(otlp_, "otlp", settings.otlp);
}

void PushService::metrics(MetricsWriter& out, Nanos now) const {
  std::vector<std::pair<std::string, PushFigures>> targets;
  {
    const std::lock_guard lock(mutex_);
    for (const Pusher* pusher : {remote_write_.get(), otlp_.get()}) {
      if (pusher != nullptr) targets.emplace_back(pusher->name(), pusher->figures());
    }
  }
  if (targets.empty()) return;
  const auto outcomes = [&](const char* name, const char* help,
                            std::array<std::uint64_t, 4> PushFigures::*field) {
    out.family(name, "counter", help);
    for (const auto& [target, figures] : targets) {
      for (std::size_t i = 0; i < PushFigures::kOutcomes.size(); ++i) {
        out.sample((figures.*field)[i],
                   {{"target", target}, {"outcome", PushFigures::kOutcomes[i]}});
      }
    }
  };
  outcomes("pingloom_collector_push_requests_total",
           "Requests to a push target, by outcome; a failed one is repeated.",
           &PushFigures::requests);
  outcomes("pingloom_collector_push_samples_total",
           "Samples in requests to a push target, by outcome; a failed request is repeated.",
           &PushFigures::samples);
  out.family("pingloom_collector_push_bytes_total", "counter",
             "Compressed bytes that a push target has taken.");
  for (const auto& [target, figures] : targets) {
    out.sample(figures.bytes_sent, {{"target", target}});
  }
  out.family("pingloom_collector_push_waiting_samples", "gauge", "Samples that wait to be pushed.");
  for (const auto& [target, figures] : targets) {
    out.sample(figures.waiting_samples, {{"target", target}});
  }
  out.family("pingloom_collector_push_lag_seconds", "gauge",
             "Age of the oldest samples that wait to be pushed; 0 if none do.");
  for (const auto& [target, figures] : targets) {
    // A request may have been made since `now`.
    const Nanos age = figures.oldest == 0 ? 0 : std::max<Nanos>(0, now - figures.oldest);
    out.sample(static_cast<double>(age) / 1e9, {{"target", target}});
  }
}

}  // namespace pingloom::collector
