// Fits an autoencoder to a group's history in slices, so that whoever calls decides how much time
// it takes. The gradient steps are Adam's (D. Kingma, J. Ba, ICLR 2015), on batches of kBatch rows.
// A part of the rows is disturbed in one metric and has to be repeated undisturbed, so that the
// network predicts a metric from the others instead of passing it through (P. Vincent et al.,
// ICML 2008). The result depends on history and seed only, not on the slices.
//
// One thread. Memory while it lives: a copy of the history, and 16 bytes for each weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collector/analytics/autoencoder.h"
#include "collector/analytics/sample_history.h"

namespace pingloom::collector::analytics {

class AutoencoderFit {
 public:
  static constexpr std::size_t kBatch = 64;
  // Rows that a fit visits altogether: about 60 times each of a full history.
  static constexpr std::size_t kVisits = 256 * 1024;

  // `active` says which slots take part. REQUIRES: the history has kBatch rows or more.
  AutoencoderFit(const SampleHistory& history, const std::vector<bool>& active, std::uint64_t seed);
  ~AutoencoderFit();
  AutoencoderFit(const AutoencoderFit&) = delete;
  AutoencoderFit& operator=(const AutoencoderFit&) = delete;

  // Makes steps for about so many rows. Returns whether it is done.
  bool step(std::size_t rows);
  // REQUIRES: done.
  std::unique_ptr<Autoencoder> take();

 private:
  struct Work;  // matrices
  std::unique_ptr<Work> work_;
};

}  // namespace pingloom::collector::analytics
