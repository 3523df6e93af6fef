#include "baselines.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "collector/analytics/normalizer.h"

namespace pingloom::bench {

namespace {

using namespace collector::analytics;

constexpr std::size_t kLearning = 600;
constexpr double kHalfLife = 14400;
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

Trace emptyTrace(const Run& run) {
  return {std::vector<GroupState>(run.samples), std::vector<float>(run.samples, kNone),
          std::vector<std::uint32_t>(run.samples)};
}

// Scores each metric by itself. `smoothing` is the weight of the latest value.
Trace alone(const Run& run, double smoothing) {
  Trace trace = emptyTrace(run);
  Normalizer normalizer(run.metrics, kHalfLife);
  std::vector<double> smoothed(run.metrics), normalized(run.metrics);
  const std::vector<bool> every(run.metrics, true);
  for (std::size_t now = 0; now < run.samples; ++now) {
    const auto sample = run.sample(now);
    for (std::size_t i = 0; i < smoothed.size(); ++i) {
      smoothed[i] += (now == 0 ? 1 : smoothing) * (sample[i] - smoothed[i]);
    }
    if (now >= kLearning) {
      normalizer.normalize(smoothed, normalized);
      Eigen::Index top = 0;
      const Eigen::Map<const Eigen::VectorXd> all(normalized.data(),
                                                  static_cast<Eigen::Index>(normalized.size()));
      trace.scores[now] = static_cast<float>(all.cwiseAbs().maxCoeff(&top));
      trace.top[now] = static_cast<std::uint32_t>(top);
    }
    normalizer.learn(smoothed, every);
  }
  return trace;
}

}  // namespace

Trace zScores(const Run& run) { return alone(run, 1); }
Trace smoothedScores(const Run& run) { return alone(run, 1.0 / 25); }

Trace windowPca(const Run& run) {
  constexpr std::size_t kEvery = 3600, kWindow = 24 * 3600, kStride = 10;
  constexpr Eigen::Index kRank = 8;
  Trace trace = emptyTrace(run);
  const auto width = static_cast<Eigen::Index>(run.metrics);
  Eigen::VectorXd mean, scale;
  Eigen::MatrixXd main;
  for (std::size_t now = kLearning; now < run.samples; ++now) {
    if (now == kLearning || now % kEvery == 0) {
      const std::size_t begin = now > kWindow ? now - kWindow : 0;
      Eigen::MatrixXd rows(static_cast<Eigen::Index>((now - begin) / kStride), width);
      for (Eigen::Index i = 0; i < rows.rows(); ++i) {
        const auto sample = run.sample(begin + static_cast<std::size_t>(i) * kStride);
        rows.row(i) = Eigen::Map<const Eigen::RowVectorXd>(sample.data(), width);
      }
      mean = rows.colwise().mean().transpose();
      rows.rowwise() -= mean.transpose();
      const double count = static_cast<double>(rows.rows());
      scale = (rows.colwise().squaredNorm().transpose() / count).cwiseSqrt();
      scale = scale.cwiseMax(1e-6 * mean.cwiseAbs()).cwiseMax(1e-12);
      rows = rows * scale.cwiseInverse().asDiagonal();
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(rows.transpose() * rows / count);
      main = eigen.eigenvectors().rightCols(kRank);
    }
    const Eigen::Map<const Eigen::VectorXd> sample(run.sample(now).data(), width);
    const Eigen::VectorXd normalized = (sample - mean).cwiseQuotient(scale);
    const Eigen::VectorXd left = normalized - main * (main.transpose() * normalized);
    Eigen::Index top = 0;
    left.cwiseAbs().maxCoeff(&top);
    trace.scores[now] = static_cast<float>(left.squaredNorm());
    trace.top[now] = static_cast<std::uint32_t>(top);
  }
  return trace;
}

}  // namespace pingloom::bench
