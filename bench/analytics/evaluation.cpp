#include "evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace pingloom::bench {

using namespace collector::analytics;

double quantileOf(std::vector<double> values, double quantile) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto rank =
      static_cast<std::ptrdiff_t>(std::lround(quantile * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

std::uint64_t Evaluation::incidents() const {
  std::uint64_t sum = 0;
  for (const auto& kind : kinds) sum += kind.incidents;
  return sum;
}

std::uint64_t Evaluation::detected() const {
  std::uint64_t sum = 0;
  for (const auto& kind : kinds) sum += kind.detected;
  return sum;
}

double Evaluation::precision() const {
  return alarms == 0 ? 1 : 1 - static_cast<double>(false_alarms) / static_cast<double>(alarms);
}

double Evaluation::recall() const {
  return incidents() == 0 ? 1 : static_cast<double>(detected()) / static_cast<double>(incidents());
}

double Evaluation::f1() const {
  const double sum = precision() + recall();
  return sum == 0 ? 0 : 2 * precision() * recall() / sum;
}

double Evaluation::falseAlarmsPerHour() const {
  return static_cast<double>(false_alarms) * 3600 /
         static_cast<double>(std::max<std::uint64_t>(quiet_samples, 1));
}

double Evaluation::saving() const {
  return 1 - static_cast<double>(values_exported) / static_cast<double>(values);
}

double Evaluation::delay(double quantile) const {
  std::vector<double> all;
  for (const auto& kind : kinds) all.insert(all.end(), kind.delays.begin(), kind.delays.end());
  return quantileOf(std::move(all), quantile);
}

namespace {

class RunEvaluation {
 public:
  RunEvaluation(const SubspaceSettings& settings, const Run& run, Evaluation& sum)
      : run_(run), sum_(sum), detector_(run.metrics, settings) {}

  void go() {
    for (std::size_t now = 0; now < run_.samples; ++now) step(now);
    finishIncident();
    sum_.values_exported += sampler_.exported();
    sum_.values += sampler_.exported() + sampler_.suppressed();
  }

 private:
  // The incident that a sample belongs to, up to the grace after its end; null outside all.
  const Occurrence* incidentAt(std::size_t now) {
    while (next_ < run_.occurrences.size() && now >= run_.occurrences[next_].end + kGrace) {
      finishIncident();
      ++next_;
    }
    const bool within = next_ < run_.occurrences.size() && now >= run_.occurrences[next_].begin;
    return within ? &run_.occurrences[next_] : nullptr;
  }

  void step(std::size_t now) {
    const SubspaceVerdict& verdict = detector_.observe(run_.sample(now));
    sampler_.exports(static_cast<Nanos>(now) * kSecond, verdict.state, run_.metrics);
    const Occurrence* incident = incidentAt(now);
    const bool anomalous = verdict.state == GroupState::kAnomalous;
    const bool alarm = anomalous && verdict.changed;
    if (alarm) ++sum_.alarms;
    if (incident == nullptr) {
      if (verdict.judged) ++sum_.quiet_samples;
      if (alarm) ++sum_.false_alarms;
    } else if (anomalous && !detected_) {
      detected_ = now - incident->begin;
      const auto& hit = incident->metrics;
      named_ = std::find(hit.begin(), hit.end(), verdict.top[0].slot) != hit.end();
    }
  }

  void finishIncident() {
    if (next_ >= run_.occurrences.size()) return;
    KindResult& kind = sum_.kinds[static_cast<std::size_t>(run_.occurrences[next_].kind)];
    ++kind.incidents;
    if (detected_) {
      ++kind.detected;
      kind.named += named_ ? 1 : 0;
      kind.delays.push_back(static_cast<double>(*detected_));
    }
    detected_.reset();
  }

  const Run& run_;
  Evaluation& sum_;
  SubspaceDetector detector_;
  AdaptiveSampler sampler_;
  std::size_t next_ = 0;  // the current incident, or the next one
  std::optional<std::size_t> detected_;
  bool named_ = false;
};

}  // namespace

Evaluation evaluate(const SubspaceSettings& settings, std::span<const Run> runs) {
  Evaluation sum;
  for (const Run& run : runs) RunEvaluation(settings, run, sum).go();
  return sum;
}

}  // namespace pingloom::bench
