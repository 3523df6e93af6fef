#include "agent/system/shown_readings.h"

#include <limits>
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

}  // namespace

ShownReadings::ShownReadings(std::string application, std::filesystem::path socket)
    : application_(std::move(application)), socket_(std::move(socket)) {
  openPages();
}

void ShownReadings::openPages() {
  pages_.reset();  // first, so that there are never two owners of the name
  PagesOptions options;
  options.application = application_;
  options.socket = socket_.string();
  pages_ = std::make_unique<Pages>(options);
  ++pages_number_;
}

void ShownReadings::make(const Reading& reading, Series& series, Nanos now) {
  const MetricOptions options = optionsOf(reading);
  series.kind = reading.family->kind;
  series.pages = pages_number_;
  series.tried = now;
  if (series.kind == Kind::kCounter) {
    series.counter = pages_->sharedCounter(options);
  } else {
    series.gauge = pages_->gauge(options);
  }
  const std::string error = pages_->takeLastError();
  series.refused = !error.empty();
  if (series.refused && !std::exchange(logged_, true)) {
    log::warning("system metrics: some are left out, the first of them {}: {}", options.name,
                 error);
  }
}

void ShownReadings::set(const Reading& reading, Nanos now) {
  writeKey(reading, key_);
  auto found = series_.find(std::string_view(key_));
  if (found == series_.end()) {
    if (series_.size() >= kMaxSeries) {
      ++refused_;
      return;
    }
    found = series_.emplace(key_, Series()).first;
  }
  Series& series = found->second;
  const bool retry = series.refused && now - series.tried >= kRetryAfter;
  if (series.pages != pages_number_ || retry) make(reading, series, now);
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

bool ShownReadings::hideGone(Nanos now) {
  bool forget = false;
  for (auto& [key, series] : series_) {
    if (series.seen == now) continue;
    if (series.kind == Kind::kGauge) series.gauge.set(std::numeric_limits<double>::quiet_NaN());
    forget = forget || now - series.seen >= kForgetAfter;
  }
  return forget;
}

void ShownReadings::show(const Readings& readings, Nanos now) {
  refused_ = 0;
  for (const Reading& reading : readings.all) set(reading, now);
  if (!hideGone(now)) return;
  std::erase_if(series_, [now](const auto& one) { return one.second.seen != now; });
  openPages();
  refused_ = 0;
  for (const Reading& reading : readings.all) set(reading, now);
}

}  // namespace pingloom::agent::system
