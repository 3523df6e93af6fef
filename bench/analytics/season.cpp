// Measures what a season adds to the detector, on synthetic weeks (weeks.h): slow drops of the
// traffic that are found, and alarms at nightly jobs, on weekends and on a holiday. The settings
// were chosen on the seeds of --tune; the report evaluates other seeds.
#include "collector/analytics/season.h"

#include <boost/program_options.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "collector/analytics/subspace_detector.h"
#include "common/program.h"
#include "evaluation.h"
#include "shared/figures.h"
#include "weeks.h"

namespace {

namespace po = boost::program_options;
using namespace pingloom;
using namespace pingloom::bench;
using namespace pingloom::collector::analytics;

constexpr std::uint64_t kTuningSeed = 1;
constexpr std::uint64_t kReportSeed = 7001;
constexpr Nanos kMonday = 4 * kDayLong * kSecond;  // the first one of 1970
constexpr std::size_t kAfter = 600;                // an alarm so long after a drop is still its own
constexpr std::size_t kFirstNights = 3;

// What begins with a sample.
struct Begins {
  bool any = false;
  bool load = false;    // an anomaly of the load
  bool season = false;  // one of the season
};

// A detector, and a season if it has one, as the collector couples them.
class Watch {
 public:
  explicit Watch(bool seasonal) : detector_(kMetrics, {}) {
    const auto relearn_after = SubspaceSettings().relearn_after;
    if (seasonal) season_ = std::make_unique<Season>(ratesOfService(), relearn_after);
  }
  Begins observe(std::size_t now, std::span<const double> sample) {
    const Nanos mono = static_cast<Nanos>(now) * kSecond;
    Begins begins;
    LoadJumps known;
    if (season_ != nullptr) {
      const SeasonVerdict& verdict = season_->observe({mono, kMonday + mono}, sample);
      begins.season = verdict.changed && verdict.anomalous;
      known = season_->jumps();
    }
    const SubspaceVerdict& verdict = detector_.observe(sample, {}, known);
    const bool began = verdict.changed && verdict.state == GroupState::kAnomalous;
    begins.load = began && verdict.statistic == Statistic::kLoad;
    begins.any = began || begins.season;
    if (season_ != nullptr && verdict.judged) {
      season_->learnJump(verdict.load_jump, verdict.load_score);
    }
    anomalous_ = verdict.state == GroupState::kAnomalous ||
                 (season_ != nullptr && season_->latest().anomalous);
    detector_.fit(kFitRows);
    return begins;
  }
  bool anomalous() const { return anomalous_; }

 private:
  SubspaceDetector detector_;
  std::unique_ptr<Season> season_;
  bool anomalous_ = false;
};

struct Found {
  std::size_t drops = 0, found = 0;
  std::vector<double> delays;  // seconds from where a drop begins
  // nights with an anomaly of the load at the job
  std::size_t first_nights = 0, later_nights = 0, later_nights_of = 0;
  std::size_t first_weekends = 0, later_weekends = 0, holidays = 0;  // alarms
  std::size_t of_season = 0;  // false alarms of the season itself
  std::size_t others = 0;     // false alarms
  double quiet_hours = 0, holiday_hours = 0;
};

class Count {
 public:
  Count(const WeeksShape& shape, const Weeks& weeks, Found& found)
      : shape_(shape), drops_(weeks.drops()), found_(found) {}

  void add(std::size_t now, const Begins& begins, bool anomalous) {
    if (next_ < drops_.size() && now >= drops_[next_].end + kAfter) endDrop();
    const std::size_t time = now % kDayLong, day = now / kDayLong;
    if (time == 0) night_ = false;
    if (time == 0 && day >= kFirstNights) ++found_.later_nights_of;
    if (day == shape_.holiday) found_.holiday_hours += anomalous ? 1.0 / 3600 : 0;
    const bool dropping = next_ < drops_.size() && now >= drops_[next_].begin;
    const bool job = time >= Weeks::kJobBegins && time < Weeks::kJobBegins + Weeks::kJobTakes + 300;
    const bool usual = !dropping && !job && !Weeks::weekend(now) && day != shape_.holiday;
    if (usual) found_.quiet_hours += 1.0 / 3600;
    if (!begins.any) return;
    if (dropping) {
      if (!hit_) found_.delays.push_back(static_cast<double>(now - drops_[next_].begin));
      hit_ = true;
    } else if (job) {
      if (begins.load && !night_)
        ++(day < kFirstNights ? found_.first_nights : found_.later_nights);
      night_ = night_ || begins.load;
    } else if (Weeks::weekend(now)) {
      ++(day < 14 ? found_.first_weekends : found_.later_weekends);
    } else if (day == shape_.holiday) {
      ++found_.holidays;
    } else {
      ++found_.others;
      found_.of_season += begins.season ? 1 : 0;
    }
  }
  void endDrop() {
    ++found_.drops;
    found_.found += hit_ ? 1 : 0;
    hit_ = false;
    ++next_;
  }

 private:
  const WeeksShape& shape_;
  const std::vector<Drop>& drops_;
  Found& found_;
  std::size_t next_ = 0;
  bool hit_ = false, night_ = false;
};

void run(const WeeksShape& shape, std::uint64_t seed, std::size_t runs, bool seasonal,
         Found& found) {
  for (std::size_t i = 0; i < runs; ++i) {
    Weeks weeks(shape, seed + i);
    Watch watch(seasonal);
    Count count(shape, weeks, found);
    for (std::size_t now = 0; now < shape.days * kDayLong; ++now) {
      const Begins begins = watch.observe(now, weeks.next());
      count.add(now, begins, watch.anomalous());
    }
  }
}

void add(const std::string& what, const Found& found, Figures& figures) {
  const auto figure = [&](const std::string& name, const char* unit, double value) {
    figures.add(name + " | " + what, unit, value);
  };
  const auto count = [&](const char* name, std::size_t value) {
    figure(name, "", static_cast<double>(value));
  };
  count("slow drops", found.drops);
  count("slow drops found", found.found);
  const double delay = quantileOf(found.delays, 0.5);
  if (std::isfinite(delay)) figure("delay p50", "s", delay);
  figure("false alarms a quiet hour", "", static_cast<double>(found.others) / found.quiet_hours);
  count("false alarms of the season itself", found.of_season);
  count("nights with an anomaly of the load at the job, the first three", found.first_nights);
  count("nights with an anomaly of the load at the job, later", found.later_nights);
  count("later nights", found.later_nights_of);
  count("alarms on the first two weekends", found.first_weekends);
  count("alarms on later weekends", found.later_weekends);
  count("alarms on the holiday", found.holidays);
  figure("anomalous on the holiday", "h", found.holiday_hours);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 2;
  bool tuning = false;
  WeeksShape shape;
  po::options_description options("Options");
  options.add_options()("tune", po::bool_switch(&tuning),
                        "evaluate the seeds that the settings were chosen on")(
      "runs", po::value(&count)->default_value(count), "how many runs to evaluate")(
      "days", po::value(&shape.days)->default_value(shape.days), "how long a run is")(
      "wander", po::value(&shape.wander)->default_value(shape.wander),
      "how far the traffic wanders within ten minutes");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code =
          program::parse({"analytics_season", "analytics_season [OPTIONS]",
                          "Evaluates what the time of the day and week adds to the detector."},
                         arguments, options, {}, values)) {
    return *code;
  }
  const std::uint64_t seed = tuning ? kTuningSeed : kReportSeed;
  std::printf("%zu metrics, %zu runs of %zu days, a sample a second, seeds %llu and on\n", kMetrics,
              count, shape.days, static_cast<unsigned long long>(seed));
  Found without, with;
  std::thread other([&] { run(shape, seed, count, false, without); });
  run(shape, seed, count, true, with);
  other.join();
  Figures figures;
  add("without the season", without, figures);
  add("with the season", with, figures);
  figures.print();
  return 0;
}
