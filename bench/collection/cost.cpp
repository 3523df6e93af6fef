// Measures what it costs a host that its cgroups' or its applications' series are read from it: on
// metric pages, which a collector reads over the soft device, and by HTTP.
#include <fmt/format.h>

#include <array>
#include <boost/program_options.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "common/duration.h"
#include "common/log.h"
#include "common/program.h"
#include "cost_sides.h"
#include "shared/figures.h"

namespace {

namespace po = boost::program_options;
using namespace pingloom;
using namespace pingloom::bench;

struct Way {
  const char* name;
  double (*cost)(const Load&);
};
constexpr std::array<Way, 4> kWays = {{{"cgroups on metric pages", cgroupsOnPages},
                                       {"cgroups scraped", cgroupsScraped},
                                       {"applications on metric pages", applicationsOnPages},
                                       {"applications scraped", applicationsScraped}}};
// An agent shows at most 512 cgroups.
constexpr std::array<int, 3> kCounts = {10, 100, 500};

void add(Figures& figures, const Load& load) {
  for (const Way& way : kWays) {
    const auto row = fmt::format("every {} | {} x {} series | {}", formatDuration(load.interval),
                                 load.count, kSeries, way.name);
    figures.add(row, "us/s", way.cost(load));
  }
}

}  // namespace

int main(int argc, char** argv) {
  int runs = 3;
  int short_rounds = 10;
  int long_rounds = 3;
  po::options_description options("Options");
  options.add_options()("runs", po::value(&runs)->default_value(runs), "how many runs to make")(
      "rounds", po::value(&short_rounds)->default_value(short_rounds),
      "how many rounds are measured at an interval of a second")(
      "long-rounds", po::value(&long_rounds)->default_value(long_rounds),
      "how many rounds are measured at an interval of 10 s");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = program::parse(
          {"cost_bench", "cost_bench [OPTIONS]", "Measures what it costs a host to be read."},
          arguments, options, {}, values)) {
    return *code;
  }
  if (runs < 1 || short_rounds < 1 || long_rounds < 1) {
    std::fprintf(stderr, "cost_bench: --runs, --rounds and --long-rounds must be above 0\n");
    return 2;
  }
  log::init("cost_bench", log::Level::kWarning);
  Figures figures;
  for (int run = 0; run < runs; ++run) {
    for (const int count : kCounts) {
      add(figures, {count, kSecond, short_rounds});
      add(figures, {count, 10 * kSecond, long_rounds});
    }
  }
  figures.print();
  return 0;
}
