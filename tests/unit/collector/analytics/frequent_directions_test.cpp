// The sketch against what is proven of it. The oracle computes with long double: more exactly, and
// with none of the template instances that the library has.
#include "collector/analytics/frequent_directions.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "allocations.h"

namespace {

using namespace pingloom::collector::analytics;
using Oracle = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using OracleVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

struct Stream {
  std::size_t dimensions;
  std::size_t rank;  // of the signal
  double noise;
  std::uint64_t seed;
};

// Rows of a low-rank signal, whose directions get weaker, and noise.
std::vector<std::vector<double>> rowsOf(const Stream& stream, std::size_t count) {
  std::mt19937_64 random(stream.seed);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> directions(stream.rank, std::vector<double>(stream.dimensions));
  for (auto& direction : directions) {
    for (double& x : direction) x = normal(random);
  }
  std::vector<std::vector<double>> rows(count, std::vector<double>(stream.dimensions));
  for (auto& row : rows) {
    for (std::size_t k = 0; k < stream.rank; ++k) {
      const double strength = normal(random) / static_cast<double>(1 + k);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] += strength * directions[k][i];
    }
    for (double& x : row) x += stream.noise * normal(random);
  }
  return rows;
}

Oracle covarianceOf(const FrequentDirections& sketch) {
  const auto flat = sketch.sketch();
  const auto columns = static_cast<Eigen::Index>(sketch.dimensions());
  const Eigen::Index rows = static_cast<Eigen::Index>(flat.size()) / columns;
  Oracle b(rows, columns);
  for (Eigen::Index r = 0; r < rows; ++r) {
    for (Eigen::Index c = 0; c < columns; ++c) {
      b(r, c) = flat[static_cast<std::size_t>(r * columns + c)];
    }
  }
  return b.transpose() * b;
}

OracleVector eigenvaluesOf(const Oracle& symmetric) {
  return Eigen::SelfAdjointEigenSolver<Oracle>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
}

// 0 <= x'(A'A - B'B)x <= ||A - A_k||_F^2 / (ell - k) for every k < ell.
void expectWithinBound(const Oracle& truth, const FrequentDirections& sketch, std::size_t ell) {
  const OracleVector error = eigenvaluesOf(truth - covarianceOf(sketch));
  const long double rounding = 1e-11L * truth.trace();
  EXPECT_GE(error.minCoeff(), -rounding) << "the sketch has more in it than there was";
  OracleVector squares = eigenvaluesOf(truth).reverse();
  long double tail = squares.sum();
  for (std::size_t k = 0; k < ell; ++k) {
    EXPECT_LE(error.maxCoeff(), tail / static_cast<long double>(ell - k) + rounding) << "k = " << k;
    if (static_cast<Eigen::Index>(k) < squares.size())
      tail -= squares[static_cast<Eigen::Index>(k)];
  }
}

void add(Oracle& covariance, const std::vector<double>& row, long double weight = 1) {
  OracleVector x(static_cast<Eigen::Index>(row.size()));
  for (std::size_t i = 0; i < row.size(); ++i) x[static_cast<Eigen::Index>(i)] = row[i];
  covariance += weight * x * x.transpose();
}

TEST(FrequentDirections, ErrorIsWithinItsProvenBoundAllTheWay) {
  for (const Stream& stream : {Stream{24, 3, 0.05, 1}, Stream{24, 24, 1.0, 2},
                               Stream{30, 8, 0.3, 3}, Stream{5, 2, 0.1, 4}, Stream{16, 6, 0, 5}}) {
    for (const std::size_t ell : {2U, 5U, 10U}) {
      FrequentDirections sketch(stream.dimensions, ell);
      const auto size = static_cast<Eigen::Index>(stream.dimensions);
      Oracle truth = Oracle::Zero(size, size);
      std::size_t count = 0;
      for (const auto& row : rowsOf(stream, 150)) {
        ASSERT_TRUE(sketch.append(row));
        add(truth, row);
        if (++count % 37 == 0) expectWithinBound(truth, sketch, ell);
      }
      sketch.compress();
      expectWithinBound(truth, sketch, ell);
      EXPECT_GT(sketch.compressions(), 1U);
    }
  }
}

// That the bound would be broken by a sketch that merely keeps the latest rows, so the test above
// can fail.
TEST(FrequentDirections, BoundIsNotTrivial) {
  Oracle truth = Oracle::Zero(24, 24);
  FrequentDirections latest(24, 10);
  const auto rows = rowsOf({24, 3, 0.05, 1}, 150);
  for (const auto& row : rows) add(truth, row);
  for (std::size_t i = rows.size() - 10; i < rows.size(); ++i) latest.append(rows[i]);
  const long double error = eigenvaluesOf(truth - covarianceOf(latest)).maxCoeff();
  EXPECT_GT(error, truth.trace() / 10);
}

TEST(FrequentDirections, ForgettingKeepsTheBoundForTheWeightedRows) {
  const double half_life = 40;
  const std::size_t ell = 6;
  FrequentDirections sketch(20, ell, half_life);
  Oracle truth = Oracle::Zero(20, 20);
  std::uint64_t compressions = 0;
  std::size_t fresh = 0;
  for (const auto& row : rowsOf({20, 4, 0.2, 9}, 300)) {
    add(truth, row);
    ++fresh;
    ASSERT_TRUE(sketch.append(row));
    if (sketch.compressions() == compressions) continue;
    compressions = sketch.compressions();
    truth *= std::exp2(-static_cast<double>(fresh) / half_life);
    fresh = 0;
    expectWithinBound(truth, sketch, ell);
  }
  EXPECT_GT(compressions, 10U);
  EXPECT_NEAR(sketch.compressedEnergy(), static_cast<double>(truth.trace()),
              0.5 * sketch.compressedEnergy());
}

TEST(FrequentDirections, ForgetsAnOldDirection) {
  FrequentDirections sketch(3, 2, 20);
  for (int i = 0; i < 200; ++i) sketch.append(std::vector<double>{10, 0, 0});
  for (int i = 0; i < 200; ++i) sketch.append(std::vector<double>{0, 1, 0});
  sketch.compress();
  std::vector<double> left(3);
  sketch.residual(std::vector<double>{0, 1, 0}, 1, left);
  EXPECT_NEAR(left[1], 0, 1e-3);
  sketch.residual(std::vector<double>{1, 0, 0}, 1, left);
  EXPECT_NEAR(left[0], 1, 1e-3);
}

TEST(FrequentDirections, ResidualIsWhatTheDirectionsDoNotExplain) {
  FrequentDirections sketch(4, 3);
  for (int i = 1; i <= 20; ++i) sketch.append(std::vector<double>{1.0 * i, 2.0 * i, 0, 0});
  sketch.compress();
  ASSERT_EQ(sketch.directions(), 1U);
  EXPECT_NEAR(sketch.energy(0), sketch.compressedEnergy(), 1e-6 * sketch.energy(0));
  std::vector<double> left(4);
  sketch.residual(std::vector<double>{3, 6, 5, 0}, 1, left);
  EXPECT_NEAR(left[0], 0, 1e-9);
  EXPECT_NEAR(left[1], 0, 1e-9);
  EXPECT_NEAR(left[2], 5, 1e-12);
}

TEST(FrequentDirections, RefusesWhatIsNotFinite) {
  FrequentDirections sketch(2, 2);
  const double infinity = std::numeric_limits<double>::infinity();
  sketch.append(std::vector<double>{1, 2});
  for (const double bad : {infinity, -infinity, std::nan(""), 1e200}) {
    EXPECT_FALSE(sketch.append(std::vector<double>{1, bad}));
  }
  EXPECT_EQ(sketch.sketch().size(), 2U);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(sketch.append(std::vector<double>{1e99, -1e99}));
  sketch.compress();
  EXPECT_TRUE(std::isfinite(sketch.energy(0)));
}

TEST(FrequentDirections, ZeroRowsHaveNoDirections) {
  FrequentDirections sketch(3, 2);
  for (int i = 0; i < 9; ++i) sketch.append(std::vector<double>(3));
  EXPECT_EQ(sketch.directions(), 0U);
  EXPECT_EQ(sketch.compressedEnergy(), 0);
}

TEST(FrequentDirections, AllocatesNothingOnceMade) {
  for (const std::size_t ell : {2U, 16U, 64U}) {
    FrequentDirections sketch(700, ell);
    const auto rows = rowsOf({700, 3, 0.1, 7}, 8);
    std::vector<double> left(700);
    const std::uint64_t before = allocations();
    for (std::size_t i = 0; i < 6 * ell; ++i) sketch.append(rows[i % rows.size()]);
    sketch.residual(rows[0], 2, left);
    EXPECT_EQ(allocations(), before) << ell;
    EXPECT_GT(sketch.compressions(), 0U);
  }
}

}  // namespace
