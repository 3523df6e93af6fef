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
  RunEvaluation(const Run& run, const Trace& trace, Evaluation& sum)
      : run_(run), trace_(trace), sum_(sum) {}

  void go() {
    for (std::size_t now = run_.history; now < run_.samples; ++now) step(now);
    while (next_ < run_.occurrences.size()) finishIncident();
    sum_.values_exported += sampler_.exported();
    sum_.values += sampler_.exported() + sampler_.suppressed();
  }

 private:
  void step(std::size_t now) {
    sampler_.exports(static_cast<Nanos>(now) * kSecond, trace_.states[now], run_.metrics);
    while (next_ < run_.occurrences.size() && now >= run_.occurrences[next_].end + kGrace) {
      recovered_ = run_.occurrences[next_].end + kRecovery;
      finishIncident();
    }
    const bool within = next_ < run_.occurrences.size() && now >= run_.occurrences[next_].begin;
    const bool alarm = trace_.states[now] == GroupState::kAnomalous &&
                       (now == run_.history || trace_.states[now - 1] != GroupState::kAnomalous);
    if (alarm) ++sum_.alarms;
    if (within) {
      if (alarm && !detected_) detected_ = now;
    } else if (now >= recovered_) {
      if (trace_.states[now] != GroupState::kLearning) ++sum_.quiet_samples;
      if (alarm) ++sum_.false_alarms;
    }
  }

  void finishIncident() {
    const Occurrence& occurrence = run_.occurrences[next_++];
    KindResult& kind = sum_.kinds[static_cast<std::size_t>(occurrence.kind)];
    ++kind.incidents;
    if (!detected_) return;
    ++kind.detected;
    const auto& hit = occurrence.metrics;
    const bool named = std::find(hit.begin(), hit.end(), trace_.top[*detected_]) != hit.end();
    kind.named += named ? 1 : 0;
    kind.delays.push_back(static_cast<double>(*detected_ - occurrence.begin));
    detected_.reset();
  }

  const Run& run_;
  const Trace& trace_;
  Evaluation& sum_;
  AdaptiveSampler sampler_;
  std::size_t next_ = 0;       // the current incident, or the next one
  std::size_t recovered_ = 0;  // the end of the last incident's recovery
  std::optional<std::size_t> detected_;
};

// Sets the states that the scores have with a limit.
void limit(Trace& trace, double limit) {
  Hysteresis hysteresis{SubspaceSettings().hysteresis};
  for (std::size_t i = 0; i < trace.scores.size(); ++i) {
    if (std::isnan(trace.scores[i])) {
      trace.states[i] = GroupState::kLearning;
    } else {
      const bool raised = hysteresis.add(trace.scores[i] > limit);
      trace.states[i] = raised ? GroupState::kAnomalous : GroupState::kQuiet;
    }
  }
}

Evaluation evaluateLimit(std::span<const Run> runs, std::span<Trace> traces, double of) {
  Evaluation sum;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    limit(traces[i], of);
    add(runs[i], traces[i], sum);
  }
  return sum;
}

}  // namespace

void add(const Run& run, const Trace& trace, Evaluation& sum) {
  RunEvaluation(run, trace, sum).go();
}

Trace traceOf(const SubspaceSettings& settings, const Run& run) {
  SubspaceDetector detector(run.metrics, settings);
  Trace trace;
  for (std::size_t now = 0; now < run.samples; ++now) {
    const SubspaceVerdict& verdict = detector.observe(run.sample(now));
    trace.states.push_back(verdict.state);
    trace.scores.push_back(verdict.judged ? static_cast<float>(verdict.score)
                                          : std::numeric_limits<float>::quiet_NaN());
    trace.top.push_back(verdict.top[0].slot);
    detector.fit(kFitRows);
  }
  return trace;
}

Evaluation evaluate(const SubspaceSettings& settings, std::span<const Run> runs) {
  Evaluation sum;
  for (const Run& run : runs) add(run, traceOf(settings, run), sum);
  return sum;
}

Evaluation bestOf(std::span<const Run> runs, std::span<Trace> traces, double false_alarms) {
  std::vector<double> scores;
  for (const Trace& trace : traces) {
    for (std::size_t i = 0; i < trace.scores.size(); i += 7) {
      if (!std::isnan(trace.scores[i])) scores.push_back(trace.scores[i]);
    }
  }
  std::sort(scores.begin(), scores.end());
  Evaluation best;
  constexpr int kSteps = 80;  // from a tenth of the scores to a hundred-thousandth
  for (int step = 0; step < kSteps; ++step) {
    const double share = std::pow(10, -1 - step * 0.05);
    const auto rank = static_cast<std::size_t>((1 - share) * static_cast<double>(scores.size()));
    const Evaluation found = evaluateLimit(runs, traces, scores[std::min(rank, scores.size() - 1)]);
    const bool better = best.incidents() == 0 || found.recall() > best.recall();
    if (found.falseAlarmsPerHour() <= false_alarms && better) best = found;
  }
  return best;
}

}  // namespace pingloom::bench
