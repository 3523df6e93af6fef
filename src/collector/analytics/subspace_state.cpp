// What is kept of a detector.
#include <utility>
#include <vector>

#include "collector/analytics/subspace_detector.h"

namespace pingloom::collector::analytics {

void SubspaceDetector::state(StateArchive& archive) {
  std::uint64_t next_fit = fit_ != nullptr ? samples_ : next_fit_;
  archive(presence_, activity_, scale_, normalizer_, sketch_, direction_, judge_, history_, alarm_,
          better_, worse_, compared_, samples_, next_fit, rank_, rank_compression_,
          anomalous_samples_, judged_, skipped_, anomalies_, relearned_, fits_, adopted_);
  archive.require(rank_ <= sketch_.directions() && anomalous_samples_ < settings_.relearn_after);
  state(archive, learned_);
  state(archive, candidate_);
  if (!archive.reads()) return;
  next_fit_ = next_fit;
  fit_.reset();
  verdict_ = {};
  verdict_.state = groupState();
}

void SubspaceDetector::state(StateArchive& archive, std::unique_ptr<Learned>& learned) const {
  bool known = learned != nullptr;
  archive(known);
  archive.require(!known || keepsHistory());
  if (archive.reads()) learned.reset();
  if (!known || !archive.ok()) return;
  if (learned == nullptr) {
    const std::size_t slots = history_.slots();
    learned = newLearned(
        std::make_unique<Autoencoder>(std::vector<float>(slots), std::vector<float>(slots), 0));
  }
  archive(*learned);
}

}  // namespace pingloom::collector::analytics
