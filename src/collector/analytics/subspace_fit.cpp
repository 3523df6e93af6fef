// How a learned model is fitted, compared with the one in charge, and takes over.
#include <algorithm>
#include <cmath>
#include <utility>

#include "collector/analytics/subspace_detector.h"

namespace pingloom::collector::analytics {
namespace {

// A load is counted in this share of its deviation in the rows that its direction was learned from.
// The history sees most of a day's loads.
constexpr double kLearnedUnit = 0.5;

}  // namespace

bool SubspaceDetector::fitIsDue() const {
  return keepsHistory() && candidate_ == nullptr && samples_ >= next_fit_ &&
         history_.rows() >= AutoencoderFit::kBatch;
}

void SubspaceDetector::fit(std::size_t rows) {
  if (fit_ == nullptr) {
    if (!fitIsDue()) return;
    std::vector<bool> active(history_.slots());
    for (std::size_t i = 0; i < active.size(); ++i) {
      active[i] = activity_.active(i) && activity_.ages()[i] >= settings_.warm_up;
    }
    fit_ = std::make_unique<AutoencoderFit>(history_, active, ++fits_);
    // A young history grows quickly; a day's is fitted again twice a day.
    next_fit_ = samples_ < kDay ? std::min(samples_ * 3 / 2, kDay) : samples_ + kDay / 2;
  }
  if (fit_->step(rows)) endFit();
}

std::unique_ptr<SubspaceDetector::Learned> SubspaceDetector::newLearned(
    std::unique_ptr<Autoencoder> model) const {
  const std::size_t slots = model->slots();
  return std::make_unique<Learned>(Learned{std::move(model), MainDirection(slots, kLearnedUnit),
                                           DeviationJudge(slots, judgeSettings()),
                                           std::vector<double>(slots)});
}

void SubspaceDetector::endFit() {
  const std::size_t slots = history_.slots();
  auto made = newLearned(fit_->take());
  fit_.reset();
  made->direction.learn(history_.all());
  made->judge.inherit(learned_ ? learned_->judge : judge_);
  std::vector<double> row(slots);
  for (std::size_t r = 0; r < history_.rows(); ++r) {
    const auto from = history_.row(r);
    std::copy(from.begin(), from.end(), row.begin());
    made->model->residual(row, made->left);
    made->judge.learnSpread(made->left, made->direction.load(row), activity_);
  }
  candidate_ = std::move(made);
  std::fill(better_.begin(), better_.end(), 0);
  std::fill(worse_.begin(), worse_.end(), 0);
  compared_ = 0;
}

// Compares the candidate with the model in charge by the samples since its fit.
void SubspaceDetector::compare() {
  static constexpr double kFarthest = 9;  // one burst must not decide
  const auto square = [](double left) { return std::min(left * left, kFarthest); };
  for (std::size_t i = 0; i < left_.size(); ++i) {
    const double unit = candidate_->model->scale(i);
    if (unit == 0) continue;
    // in the candidate's deviations, all of them
    const bool modelled = learned_ != nullptr && learned_->model->scale(i) > 0;
    const double in_charge = modelled ? learned_->left[i] * learned_->model->scale(i) / unit
                                      : left_[i] * normalizer_.scale(i) / unit;
    better_[i] += square(candidate_->left[i]);
    worse_[i] += square(in_charge);
  }
  const std::uint64_t wanted = std::clamp<std::uint64_t>(samples_ / 8, 600, 3600);
  if (++compared_ < wanted) return;
  double gain = 0;
  for (std::size_t i = 0; i < left_.size(); ++i) {
    if (candidate_->model->scale(i) == 0) continue;
    gain += std::log((worse_[i] + 1) / (better_[i] + 1));
  }
  if (gain > 0) {
    learned_ = std::move(candidate_);
    ++adopted_;
  }
  candidate_.reset();
}

}  // namespace pingloom::collector::analytics
