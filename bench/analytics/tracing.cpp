// Measures what verdicts are worth to a tracer: the share of the traces that a fault has touched
// which are kept, and how many bytes of spans are not, beside head sampling that keeps as many
// bytes. Each service publishes a page with its requests, its failures and a histogram of their
// durations. A collector's watch takes a sample of it each second, and the service's tracer keeps
// all spans while it is anomalous, and one trace of `one-in` otherwise, as
// pingloom_pages_keep_one_in() says.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "collector/watch/owner_watch.h"
#include "common/program.h"
#include "evaluation.h"
#include "shared/figures.h"
#include "trace_graph.h"

namespace {

namespace po = boost::program_options;
using namespace pingloom;
using namespace pingloom::bench;

constexpr pingloom_histogram_shape kShape{10, 24, 2};
constexpr double kUnit = 1e-6;         // of a duration, in seconds
constexpr double kRequests = 60;       // a second, in the mean
constexpr std::size_t kWarmUp = 3600;  // seconds that are not counted
constexpr std::size_t kEvery = 900;    // seconds from one fault to the next
constexpr std::size_t kTakes = 180;

// A service's page, its watch, and what its tracer does.
class Traced {
 public:
  Traced() {
    const auto slots = static_cast<std::uint16_t>(pingloom_histogram_slots(kShape));
    auto info = std::make_shared<collector::PageInfo>();
    info->generation = info->schema_version = 1;
    info->application = "service";
    info->schema.push_back({PINGLOOM_COUNTER, false, 0, 1, {}, 1, "requests_total", "", {}});
    info->schema.push_back({PINGLOOM_COUNTER, false, 1, 1, {}, 1, "failures_total", "", {}});
    info->schema.push_back({PINGLOOM_HISTOGRAM, false, 2, slots, kShape, kUnit, "seconds", "", {}});
    info->slots = static_cast<std::uint16_t>(slots + 2);
    page_.slots = info->slots;
    page_.values.assign(page_.slots, 0);
    page_.info = std::move(info);
    page_.state = collector::PageState::kFresh;
    watch_ = collector::OwnerWatch::make({&page_}, {});
  }
  void take(const Span& span) {
    const auto value = static_cast<std::uint64_t>(span.seconds / kUnit);
    ++page_.values[0];
    page_.values[1] += span.failed ? 1 : 0;
    page_.values[2] += value;
    ++page_.values[3 + pingloom_histogram_bucket(kShape, value)];
  }
  // The end of a second.
  void observe() {
    std::vector<collector::WatchEvent> events;
    page_.read += kSecond;
    watch_->observe({&page_}, events);
    watch_->fit(kFitRows);
    keeps_all_ = watch_->anomalous();
  }
  bool keepsAll() const { return keeps_all_; }

 private:
  collector::PageView page_;
  std::unique_ptr<collector::OwnerWatch> watch_;
  bool keeps_all_ = false;
};

constexpr std::array<const char*, Fault::kKinds> kKinds = {"slow", "very slow for 5 %",
                                                           "10 % fail"};

struct Kept {
  double spans = 0;
  double kept = 0;
  std::array<double, Fault::kKinds> touched = {};  // traces
  std::array<double, Fault::kKinds> touched_kept = {};
  double faults = 0;
  double faults_found = 0;
  double head_kept = 0;      // touched traces that head sampling keeps, once its share is known
  std::vector<double> lots;  // one number in [0, 1) for each touched trace, drawn at its head
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, std::uint32_t one_in)
      : random_(seed), graph_(random_), one_in_(one_in) {}

  Kept run(std::size_t seconds) {
    for (std::size_t now = 0; now < seconds; ++now) {
      beginOrEnd(now);
      second(now >= kWarmUp);
      for (Traced& service : services_) service.observe();
      if (!fault_) continue;
      // It counts as found by what begins after it.
      const bool keeps = services_[fault_->service].keepsAll();
      found_ = found_ || (keeps && !kept_before_);
      kept_before_ = keeps;
    }
    const double budget = kept_.kept / kept_.spans;
    kept_.head_kept = static_cast<double>(std::count_if(kept_.lots.begin(), kept_.lots.end(),
                                                        [&](double lot) { return lot < budget; }));
    return std::move(kept_);
  }

 private:
  void beginOrEnd(std::size_t now) {
    if (now < kWarmUp) return;
    const std::size_t within = (now - kWarmUp) % kEvery;
    if (within == kEvery / 2) {
      const std::vector<std::size_t>& reached = graph_.reached();
      fault_ = Fault{reached[random_.below(reached.size())],
                     static_cast<Fault::Kind>(random_.below(Fault::kKinds))};
      found_ = false;
      kept_before_ = true;
      ++kept_.faults;
    } else if (within == kEvery / 2 + kTakes) {
      kept_.faults_found += found_ ? 1 : 0;
      fault_.reset();
    }
  }
  void second(bool counts) {
    load_ += (random_.normal() - load_) / 300;
    const double expected = kRequests * std::exp(0.5 * load_ * std::sqrt(300.0 / 2));
    const auto requests = std::llround(expected + std::sqrt(expected) * random_.normal());
    for (long long i = 0; i < requests; ++i) {
      spans_.clear();
      graph_.trace(fault_ ? &*fault_ : nullptr, random_, spans_);
      const double lot = random_.uniform();
      const bool chosen = lot * one_in_ < 1;
      bool touched = false;
      bool touched_kept = false;
      for (const Span& span : spans_) {
        Traced& service = services_[span.service];
        service.take(span);
        const bool keep = chosen || service.keepsAll();
        if (!counts) continue;
        ++kept_.spans;
        kept_.kept += keep ? 1 : 0;
        touched |= span.touched;
        touched_kept |= span.touched && keep;
      }
      if (!touched) continue;
      const auto kind = static_cast<std::size_t>(fault_->kind);
      ++kept_.touched[kind];
      kept_.touched_kept[kind] += touched_kept ? 1 : 0;
      kept_.lots.push_back(random_.uniform());
    }
  }

  Random random_;
  TraceGraph graph_;
  std::uint32_t one_in_;
  std::vector<Traced> services_{TraceGraph::kServices};
  std::vector<Span> spans_;
  std::optional<Fault> fault_;
  bool found_ = false;
  bool kept_before_ = false;  // in the second before
  double load_ = 0;
  Kept kept_;
};

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 4, hours = 6;
  std::uint64_t seed = 7001;
  std::uint32_t one_in = 100;
  po::options_description options("Options");
  options.add_options()("runs", po::value(&count)->default_value(count), "how many runs")(
      "hours", po::value(&hours)->default_value(hours),
      "how long a run is, after an hour that is not counted")(
      "one-in", po::value(&one_in)->default_value(one_in),
      "traces of which one is kept while a service is as usual")(
      "seed", po::value(&seed)->default_value(seed), "the first run's seed");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code =
          program::parse({"analytics_tracing", "analytics_tracing [OPTIONS]",
                          "Compares traces that verdicts keep with those of head sampling."},
                         arguments, options, {}, values)) {
    return *code;
  }
  Figures figures;
  for (std::size_t i = 0; i < count; ++i) {
    Simulation simulation(seed + i, one_in);
    const Kept kept = simulation.run(kWarmUp + hours * 3600);
    const double touched = std::accumulate(kept.touched.begin(), kept.touched.end(), 0.0);
    const double by_verdicts =
        100 * std::accumulate(kept.touched_kept.begin(), kept.touched_kept.end(), 0.0) / touched;
    const double by_head = 100 * kept.head_kept / touched;
    figures.add("faults", "", kept.faults);
    figures.add("faults during which their service kept all", "%",
                100 * kept.faults_found / kept.faults);
    figures.add("touched traces kept, by verdicts", "%", by_verdicts);
    figures.add("touched traces kept, by head sampling of as many bytes", "%", by_head);
    for (std::size_t kind = 0; kind < Fault::kKinds; ++kind) {
      if (kept.touched[kind] == 0) continue;
      figures.add(std::string("touched traces kept, by verdicts: ") + kKinds[kind], "%",
                  100 * kept.touched_kept[kind] / kept.touched[kind]);
    }
    figures.add("times head sampling", "", by_verdicts / by_head);
    figures.add("bytes not kept", "%", 100 - 100 * kept.kept / kept.spans);
  }
  figures.print();
  return 0;
}
