// What an update of a Frequent Directions sketch costs, and a verdict with all that belongs to it,
// beside a full SVD of a window of 256 rows for the same directions: redone as often as the sketch
// is compressed, and with every row.
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <span>
#include <vector>

#include "collector/analytics/frequent_directions.h"
#include "collector/analytics/subspace_detector.h"

namespace {

using namespace pingloom::collector::analytics;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kRuns = 7;
constexpr Eigen::Index kWindow = 256;  // rows
constexpr double kMinSeconds = 0.3;    // of a run

// A signal of eight directions, and noise.
Matrix rowsOf(Eigen::Index dimensions) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  const auto number = [&](auto) { return normal(random); };
  const Matrix signal = Matrix::Zero(kWindow, 8).unaryExpr(number);
  const Matrix directions = Matrix::Zero(8, dimensions).unaryExpr(number);
  return signal * directions + 0.5 * Matrix::Zero(kWindow, dimensions).unaryExpr(number);
}

// Of this thread: what else the machine does meanwhile does not count.
double cpuSeconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

// Of a call, repeated for kMinSeconds.
template <typename Call>
double secondsOf(Call call) {
  const double began = cpuSeconds();
  double spent = 0;
  std::uint64_t calls = 0;
  while (spent < kMinSeconds) {
    call();
    ++calls;
    spent = cpuSeconds() - began;
  }
  return spent / static_cast<double>(calls);
}

template <typename Call>
void print(const char* what, double updates_per_call, Call call) {
  std::vector<double> rates(kRuns);
  for (double& rate : rates) rate = updates_per_call / secondsOf(call);
  std::sort(rates.begin(), rates.end());
  std::printf("  %-52s %12.0f %12.0f %12.0f\n", what, rates[kRuns / 2], rates.front(),
              rates.back());
}

void measure(Eigen::Index dimensions) {
  const Matrix rows = rowsOf(dimensions);
  const auto width = static_cast<std::size_t>(dimensions);
  const auto row = [&](Eigen::Index i) {
    return std::span<const double>(rows.data() + i * dimensions, width);
  };
  const SubspaceSettings settings;
  std::printf("d = %ld, ell = %zu: updates per second of CPU, median, lowest, highest of %d\n",
              dimensions, settings.directions, kRuns);

  FrequentDirections sketch(width, settings.directions);
  print("sketch: append", kWindow, [&] {
    for (Eigen::Index i = 0; i < kWindow; ++i) sketch.append(row(i));
  });
  SubspaceDetector detector(width, settings);
  for (std::uint32_t i = 0; i < settings.warm_up; ++i) detector.observe(row(i % kWindow));
  print("detector: normalise, score, verdict, append", kWindow, [&] {
    for (Eigen::Index i = 0; i < kWindow; ++i) detector.observe(row(i));
  });
  const auto every = static_cast<double>(settings.directions);
  print("BDCSVD of the window, every ell updates", every, [&] {
    const Eigen::BDCSVD<Matrix> svd(rows, Eigen::ComputeThinV);
    if (!(svd.singularValues()[0] > 0)) std::abort();
  });
  print("BDCSVD of the window, every update", 1, [&] {
    const Eigen::BDCSVD<Matrix> svd(rows, Eigen::ComputeThinV);
    if (!(svd.singularValues()[0] > 0)) std::abort();
  });
}

}  // namespace

int main() {
  for (const Eigen::Index dimensions : {64, 256, 1024}) measure(dimensions);
  return 0;
}
