#include "collector/analytics/frequent_directions.h"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace pingloom::collector::analytics {

namespace {

constexpr int kMaxRows = 2 * static_cast<int>(FrequentDirections::kMaxDirections);
// Columns that are rotated at a time, so that the copies that Eigen makes for the product fit on
// the stack.
constexpr Eigen::Index kChunk = 64;
constexpr double kRounding = 1e-12;

using Eigen::Dynamic;
using Rows = Eigen::Map<Eigen::Matrix<double, Dynamic, Dynamic, Eigen::RowMajor>>;
using Row = Eigen::Map<Eigen::VectorXd>;
using ConstRow = Eigen::Map<const Eigen::VectorXd>;
// A matrix of dynamic size with room for the largest, so that it is on the stack.
using Small = Eigen::Matrix<double, Dynamic, Dynamic, Eigen::ColMajor, kMaxRows, kMaxRows>;
using Chunk = Eigen::Matrix<double, Dynamic, Dynamic, Eigen::RowMajor, kMaxRows, kChunk>;

Eigen::Index index(std::size_t number) { return static_cast<Eigen::Index>(number); }

Small gram(const Rows& rows) {
  Small products = Small::Zero(rows.rows(), rows.rows());
  for (Eigen::Index column = 0; column < rows.cols(); column += kChunk) {
    const Eigen::Index width = std::min(kChunk, rows.cols() - column);
    products.selfadjointView<Eigen::Lower>().rankUpdate(rows.middleCols(column, width));
  }
  return products;
}

// Replaces the first rows by rotation * rows.
void rotate(const Small& rotation, Rows& rows) {
  Chunk rotated;
  for (Eigen::Index column = 0; column < rows.cols(); column += kChunk) {
    const Eigen::Index width = std::min(kChunk, rows.cols() - column);
    rotated.resize(rotation.rows(), width);
    rotated.noalias() = rotation * rows.middleCols(column, width);
    rows.topRows(rotation.rows()).middleCols(column, width) = rotated;
  }
}

}  // namespace

FrequentDirections::FrequentDirections(std::size_t dimensions, std::size_t ell, double half_life)
    : dimensions_(dimensions),
      ell_(ell),
      decay_(half_life > 0 ? std::exp2(-1 / half_life) : 1),
      rows_(2 * ell * dimensions),
      energies_(ell) {}

bool FrequentDirections::append(std::span<const double> row) {
  const double energy = ConstRow(row.data(), index(dimensions_)).squaredNorm();
  if (!(energy <= kMaxEnergy)) return false;  // also refuses NaN
  std::copy(row.begin(), row.end(), rows_.begin() + index(used_ * dimensions_));
  energy_ += energy;
  if (++used_ == 2 * ell_) compress();
  return true;
}

void FrequentDirections::compress() {
  if (used_ == kept_) return;
  Rows rows(rows_.data(), index(used_), index(dimensions_));
  Eigen::SelfAdjointEigenSolver<Small> eigen(gram(rows));
  const auto& squares = eigen.eigenvalues();  // ascending, like the columns of eigenvectors()
  const Eigen::Index last = index(used_) - 1;
  const double shrink = used_ > ell_ ? std::max(0.0, squares[last - index(ell_)]) : 0;

  Small rotation(index(std::min(used_, ell_)), index(used_));
  directions_ = 0;
  for (Eigen::Index i = 0; i < rotation.rows(); ++i) {
    const double square = squares[last - i];
    const double left = square - shrink;
    if (!(left > kRounding * squares[last])) break;
    rotation.row(i) = std::sqrt(left / square) * eigen.eigenvectors().col(last - i).transpose();
    energies_[directions_++] = left;
  }
  rotation.conservativeResize(index(directions_), Eigen::NoChange);
  rotate(rotation, rows);
  const std::size_t fresh = used_ - kept_;
  used_ = kept_ = directions_;
  forget(fresh);
  compressed_energy_ = energy_;
  ++compressions_;
}

void FrequentDirections::forget(std::size_t rows) {
  if (decay_ == 1) return;
  const double weight = std::pow(decay_, static_cast<double>(rows));
  Rows(rows_.data(), index(used_), index(dimensions_)) *= std::sqrt(weight);
  for (std::size_t i = 0; i < directions_; ++i) energies_[i] *= weight;
  energy_ *= weight;
}

void FrequentDirections::rearrange(SlotOrigins from) {
  const auto length = [this] {
    return ConstRow(rows_.data(), index(used_ * dimensions_)).squaredNorm();
  };
  const double before = length();
  rearrangeRows(rows_, 2 * ell_, from);
  dimensions_ = from.size();
  // What was taken off the rows is shared among the dimensions as what is left of them is.
  if (before > 0) energy_ *= length() / before;
  kept_ = directions_ = 0;
  compress();
}

void FrequentDirections::state(StateArchive& archive) {
  archive(used_, kept_, directions_, energy_, compressed_energy_, compressions_, energies_);
  archive.require(directions_ <= ell_ && directions_ <= kept_ && kept_ <= used_ &&
                  used_ < 2 * ell_);
  if (!archive.ok()) return;
  for (std::size_t i = 0; i < directions_; ++i) archive.require(energies_[i] > 0);
  archive.numbers(std::span(rows_).first(used_ * dimensions_));
}

void FrequentDirections::clear() {
  used_ = kept_ = directions_ = 0;
  energy_ = compressed_energy_ = 0;
}

void FrequentDirections::residual(std::span<const double> row, std::size_t rank,
                                  std::span<double> out) const {
  Row left(out.data(), index(dimensions_));
  left = ConstRow(row.data(), index(dimensions_));
  for (std::size_t i = 0; i < rank; ++i) {
    const ConstRow direction(rows_.data() + i * dimensions_, index(dimensions_));
    left -= (direction.dot(left) / energies_[i]) * direction;
  }
}

}  // namespace pingloom::collector::analytics
