#include "agent/system/shown_readings.h"

#include <utility>

#include "common/log.h"

namespace pingloom::agent::system {
namespace {

// Two readings have the same key if and only if they have the same name and labels.
void writeKey(const Reading& reading, std::string& key) {
  key = reading.family->name;
  for (const std::string_view value : reading.labels) {
    key += '\0';
    key += value;
  }
}

MetricOptions optionsOf(const Reading& reading) {
  MetricOptions options;
  options.name = reading.family->name;
  options.help = reading.family->help;
  options.unit = reading.family->unit;
  for (std::size_t i = 0; i < Family::kMaxLabels && reading.family->labels[i] != nullptr; ++i) {
    if (reading.labels[i].empty()) continue;  // to Prometheus the same as no label
    options.labels.emplace_back(reading.family->labels[i], reading.labels[i]);
  }
  return options;
}

PagesOptions pagesOf(const std::string& application, const std::filesystem::path& socket) {
  PagesOptions options;
  options.application = application;
  options.socket = socket.string();
  return options;
}

}  // namespace

ShownReadings::ShownReadings(const std::string& application, const std::filesystem::path& socket)
    : pages_(pagesOf(application, socket)) {}

void ShownReadings::make(const Reading& reading, Series& series, Nanos now) {
  const MetricOptions options = optionsOf(reading);
  series.kind = reading.family->kind;
  series.tried = now;
  series.name = options.name;
  series.labels = options.labels;
  if (series.kind == Kind::kCounter) {
    series.counter = pages_.sharedCounter(options);
  } else {
    series.gauge = pages_.gauge(options);
  }
  const std::string error = pages_.takeLastError();
  series.refused = !error.empty();
  if (series.refused && !std::exchange(logged_, true)) {
    log::warning("system metrics: some are left out, the first of them {}: {}", options.name,
                 error);
  }
}

void ShownReadings::set(const Reading& reading, Nanos now) {
  writeKey(reading, key_);
  auto found = series_.find(std::string_view(key_));
  const bool fresh = found == series_.end();
  if (fresh) {
    if (series_.size() + removed_.size() >= kMaxSeries) {
      ++refused_;
      return;
    }
    found = series_.emplace(key_, Series()).first;
  }
  Series& series = found->second;
  const bool retry = series.refused && now - series.tried >= kRetryAfter;
  if (fresh || retry) make(reading, series, now);
  if (series.refused) ++refused_;
  series.seen = now;
  if (series.kind == Kind::kGauge) {
    series.gauge.set(reading.value);
    return;
  }
  if (reading.count < series.last) {
    if (series.last - reading.count > reading.family->jitter) {
      series.base += series.last;
      series.last = reading.count;
    }
  } else {
    series.last = reading.count;
  }
  series.counter.set(series.base + series.last);
}

void ShownReadings::removeGone(Nanos now) {
  std::erase_if(series_, [&](const auto& entry) {
    const Series& series = entry.second;
    if (series.seen == now) return false;
    if (!series.refused && pages_.remove({series.name, "", series.labels})) removed_.push_back(now);
    return true;
  });
}

void ShownReadings::show(const Readings& readings, Nanos now) {
  while (!removed_.empty() && now - removed_.front() >= kRestsFor) removed_.pop_front();
  refused_ = 0;
  for (const Reading& reading : readings.all) set(reading, now);
  removeGone(now);
}

}  // namespace pingloom::agent::system
