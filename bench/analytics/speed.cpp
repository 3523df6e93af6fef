// Measures what an update of a Frequent Directions sketch costs, and a verdict with all that
// belongs to it, compared with a full SVD of a window of 256 rows for the same directions, which is
// redone as often as the sketch is compressed, or with every row. The machine's limit is the least
// that a sketch has to do with a row: the bare product of the row with as many directions as the
// sketch has.
#include <Eigen/SVD>
#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "collector/analytics/frequent_directions.h"
#include "collector/analytics/subspace_detector.h"
#include "common/program.h"
#include "shared/clocks.h"
#include "shared/figures.h"

namespace {

using namespace pingloom::bench;
using namespace pingloom::collector::analytics;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Eigen::Index kWindow = 256;  // rows
constexpr double kMinSeconds = 0.3;    // in a run

// Makes a signal of eight directions, and noise.
Matrix rowsOf(Eigen::Index dimensions) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  const auto number = [&](auto) { return normal(random); };
  const Matrix signal = Matrix::Zero(kWindow, 8).unaryExpr(number);
  const Matrix directions = Matrix::Zero(8, dimensions).unaryExpr(number);
  return signal * directions + 0.5 * Matrix::Zero(kWindow, dimensions).unaryExpr(number);
}

// Gives the seconds of CPU that a call takes. It is repeated for kMinSeconds.
template <typename Call>
double secondsOf(Call call) {
  const double began = toSeconds(threadCpu());
  double spent = 0;
  std::uint64_t calls = 0;
  while (spent < kMinSeconds) {
    call();
    ++calls;
    spent = toSeconds(threadCpu()) - began;
  }
  return spent / static_cast<double>(calls);
}

class Measurement {
 public:
  Measurement(Eigen::Index dimensions, Figures& figures)
      : rows_(rowsOf(dimensions)),
        directions_(Matrix::Random(static_cast<Eigen::Index>(settings_.directions), dimensions)),
        column_(" | d = " + std::to_string(dimensions)),
        figures_(figures),
        sketch_(width(), settings_.directions),
        detector_(width(), settings_) {
    for (std::uint32_t i = 0; i < settings_.warm_up; ++i) detector_.observe(row(i % kWindow));
  }

  void run() {
    const double append = add("Frequent Directions, ell = 32: append", kWindow, [this] {
      for (Eigen::Index i = 0; i < kWindow; ++i) sketch_.append(row(i));
    });
    add("detector: normalise, score, verdict, append", kWindow, [this] {
      for (Eigen::Index i = 0; i < kWindow; ++i) detector_.observe(row(i));
    });
    const auto svd = [this] {
      const Eigen::BDCSVD<Matrix> done(rows_, Eigen::ComputeThinV);
      if (!(done.singularValues()[0] > 0)) std::abort();
    };
    const double every =
        add("SVD of the window, every 32 samples", static_cast<double>(settings_.directions), svd);
    add("SVD of the window, every sample", 1, svd);
    add("limit: product of the sample with 32 directions", kWindow, [this] {
      for (Eigen::Index i = 0; i < kWindow; ++i) {
        product_.noalias() = directions_ * rows_.row(i).transpose();
      }
      if (!std::isfinite(product_[0])) std::abort();
    });
    figures_.add("append, of an SVD every 32 samples" + column_, "", append / every);
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(rows_.cols()); }
  std::span<const double> row(Eigen::Index i) const {
    return {rows_.data() + i * rows_.cols(), width()};
  }
  // Gives updates per second of CPU.
  template <typename Call>
  double add(const char* name, double updates_per_call, Call call) {
    const double rate = updates_per_call / secondsOf(call);
    figures_.add(name + column_, "updates/s", rate);
    return rate;
  }

  const SubspaceSettings settings_;
  const Matrix rows_;
  const Matrix directions_;
  const std::string column_;
  Figures& figures_;
  FrequentDirections sketch_;
  SubspaceDetector detector_;
  Eigen::VectorXd product_;
};

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  int runs = 7;
  po::options_description options("Options");
  options.add_options()("runs", po::value(&runs)->default_value(runs), "how many runs to make");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = pingloom::program::parse(
          {"analytics_speed", "analytics_speed [OPTIONS]",
           "Measures what a sample of a group of d metrics costs the analytics."},
          arguments, options, {}, values)) {
    return *code;
  }
  Figures figures;
  for (const Eigen::Index dimensions : {64, 256, 1024}) {
    Measurement measurement(dimensions, figures);
    for (int run = 0; run < std::max(1, runs); ++run) measurement.run();
  }
  figures.print();
  return 0;
}
