// Frequent Directions: a sketch of the principal directions of a stream of rows, in a matrix of
// fixed size.
//
// A is the matrix of all rows appended so far, d columns; B is the sketch, at most 2*ell rows.
// For every k < ell:  0 <= x'A'Ax - x'B'Bx <= ||A - A_k||_F^2 / (ell - k)  for every unit vector x,
// where A_k is the best approximation of A of rank k; with k = 0, ||A||_F^2 / ell.
// (Liberty, KDD 2013; Ghashami, Liberty, Phillips and Woodruff, SIAM J. Comput. 45(5), 2016.)
//
// Rows gather in a buffer of 2*ell rows. When it is full, its row space is rotated onto its
// principal directions, the (ell+1)th largest squared singular value is taken off all of them, and
// those with nothing left are dropped. The rotation comes from the eigenvectors of the small
// 2*ell x 2*ell matrix BB', never from a decomposition with d columns. An append costs O(ell d)
// then, amortised: one compression every ell appends or more.
//
// Forgetting: with a half-life, what was compressed is weighted down as rows come. A then is the
// matrix of the rows with the weights they have by now, and the bound above holds for it, since
// sketch, error and mass are scaled by the same factor. Without forgetting, a pattern that is new
// after a week takes about a week to count as much as the old one.
//
// One thread. Memory is taken at construction: 2*ell*d doubles; a compression takes up to 400 KiB
// of stack, at ell = 64, and 40 KiB at 16. No call allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/analytics/rearrange.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

class FrequentDirections {
 public:
  static constexpr std::size_t kMaxDimensions = 65536;
  static constexpr std::size_t kMaxDirections = 64;
  // Rows with a larger squared length are refused, so that nothing overflows.
  static constexpr double kMaxEnergy = 1e200;

  // Keeps ell directions of rows with the given dimensions. half_life is the number of rows after
  // which a row counts half; with 0 nothing is forgotten. REQUIRES: 1 <= dimensions <=
  // kMaxDimensions, 2 <= ell <= kMaxDirections, half_life >= 0.
  FrequentDirections(std::size_t dimensions, std::size_t ell, double half_life = 0);

  // Returns false and changes nothing if the row is not finite or too long. REQUIRES: row.size() ==
  // dimensions.
  bool append(std::span<const double> row);
  // Brings directions() up to date with all appended rows. append() does this by itself when the
  // buffer is full.
  void compress();
  void clear();
  // Gives the rows other dimensions. A new one is 0 in all rows so far. The directions are computed
  // again.
  void rearrange(SlotOrigins from);
  void state(StateArchive& archive);

  // The number of principal directions at the last compression, at most ell. They are orthogonal
  // and ordered by descending energy; directions with less than 10^-12 of the first one's energy
  // are rounding errors and left out.
  std::size_t directions() const { return directions_; }
  // The squared length of a direction. It is smaller than A's energy in that direction by no more
  // than the bound.
  double energy(std::size_t direction) const { return energies_[direction]; }
  // The squared Frobenius norm of A at the last compression; the energies are shares of it.
  double compressedEnergy() const { return compressed_energy_; }
  std::uint64_t compressions() const { return compressions_; }

  // Computes `row` without its part in the first `rank` directions. REQUIRES: rank <= directions();
  // both spans have `dimensions` elements; they may be the same.
  void residual(std::span<const double> row, std::size_t rank, std::span<double> out) const;

  // Returns B row by row: `used` rows of `dimensions` elements, including uncompressed ones.
  std::span<const double> sketch() const { return {rows_.data(), used_ * dimensions_}; }
  std::size_t dimensions() const { return dimensions_; }

 private:
  void forget(std::size_t rows);

  std::size_t dimensions_;
  std::size_t ell_;
  double decay_;              // decay of a squared length per row
  std::vector<double> rows_;  // 2*ell_ rows; the first directions_ are orthogonal
  std::vector<double> energies_;
  std::size_t used_ = 0;
  std::size_t kept_ = 0;  // rows of used_ that the last compression left
  std::size_t directions_ = 0;
  double energy_ = 0;  // energy of A, decayed until now
  double compressed_energy_ = 0;
  std::uint64_t compressions_ = 0;
};

}  // namespace pingloom::collector::analytics
