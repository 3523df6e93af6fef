#include "collector/analytics/autoencoder_fit.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "collector/analytics/autoencoder_layers.h"

namespace pingloom::collector::analytics {

namespace {

constexpr float kRate = 0.004F;  // of learning, at the beginning; it falls to a hundredth
constexpr float kFirstMoment = 0.9F;
constexpr float kSecondMoment = 0.999F;
constexpr float kDisturbed = 0.5F;  // the share of rows that are disturbed
constexpr float kDisturbance = 5;   // at most, in standard deviations
constexpr auto kColumns = static_cast<Eigen::Index>(AutoencoderFit::kBatch);

using Batch = Eigen::MatrixXf;  // a column for each row of the history

}  // namespace

struct AutoencoderFit::Work {
  Work(std::vector<float> mean, std::vector<float> scale, std::uint64_t seed)
      : model(std::make_unique<Autoencoder>(std::move(mean), std::move(scale), seed)),
        random(seed),
        gradient(model->weights().size()),
        first(model->weights().size()),
        second(model->weights().size()) {}

  float uniform() { return static_cast<float>(random() >> 11) * 0x1p-53F; }
  void fillBatch();
  void differentiate();
  void descend();

  std::unique_ptr<Autoencoder> model;
  Batch rows;  // normalised
  std::vector<std::size_t> order, active;
  std::mt19937_64 random;
  std::size_t visited = 0;
  std::size_t steps = 0;
  std::vector<float> gradient, first, second;  // for each weight
  Batch wanted, input, hidden, code, widened, repeated;
  Batch d_hidden, d_code, d_widened;
};

AutoencoderFit::AutoencoderFit(const SampleHistory& history, const std::vector<bool>& active,
                               std::uint64_t seed) {
  const std::size_t slots = history.slots();
  const std::size_t count = history.rows();
  std::vector<double> sum(slots), squares(slots);
  std::vector<float> mean(slots), scale(slots);
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t i = 0; i < slots; ++i) sum[i] += history.row(r)[i];
  }
  for (std::size_t i = 0; i < slots; ++i) mean[i] = static_cast<float>(sum[i] / double(count));
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t i = 0; i < slots; ++i) {
      const double apart = history.row(r)[i] - mean[i];
      squares[i] += apart * apart;
    }
  }
  for (std::size_t i = 0; i < slots; ++i) {
    if (active[i]) scale[i] = static_cast<float>(std::sqrt(squares[i] / double(count)));
  }
  work_ = std::make_unique<Work>(mean, scale, seed);
  Work& work = *work_;
  work.rows = Batch::Zero(static_cast<Eigen::Index>(slots), static_cast<Eigen::Index>(count));
  constexpr auto kFarthest = static_cast<float>(Autoencoder::kFarthest);
  for (std::size_t i = 0; i < slots; ++i) {
    if (scale[i] == 0) continue;
    work.active.push_back(i);
    for (std::size_t r = 0; r < count; ++r) {
      const float normalized = (history.row(r)[i] - mean[i]) / scale[i];
      work.rows(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(r)) =
          std::clamp(normalized, -kFarthest, kFarthest);
    }
  }
  work.order.resize(count);
  for (std::size_t r = 0; r < count; ++r) work.order[r] = r;
}

AutoencoderFit::~AutoencoderFit() = default;

void AutoencoderFit::Work::fillBatch() {
  wanted.resize(rows.rows(), kColumns);
  for (Eigen::Index column = 0; column < kColumns; ++column) {
    const std::size_t place = visited++ % order.size();
    // Fisher and Yates' shuffle, one step ahead of each use
    std::swap(order[place], order[place + random() % (order.size() - place)]);
    wanted.col(column) = rows.col(static_cast<Eigen::Index>(order[place]));
  }
  input = wanted;
  for (Eigen::Index column = 0; column < kColumns && !active.empty(); ++column) {
    if (uniform() >= kDisturbed) continue;
    const std::size_t slot = active[random() % active.size()];
    input(static_cast<Eigen::Index>(slot), column) += kDisturbance * (2 * uniform() - 1);
  }
}

void AutoencoderFit::Work::differentiate() {
  const std::size_t slots = model->slots();
  const Layers<const float> layers(std::as_const(*model).weights().data(), slots);
  Layers<float> into(gradient.data(), slots);
  hidden.noalias() = layers.in * input;
  hidden = (hidden.colwise() + layers.in_bias).array().tanh();
  code.noalias() = layers.narrow * hidden;
  code.colwise() += layers.narrow_bias;
  widened.noalias() = layers.wide * code;
  widened = (widened.colwise() + layers.wide_bias).array().tanh();
  repeated.noalias() = layers.out * widened;
  repeated.colwise() += layers.out_bias;

  // The loss is half the mean square, so its derivative is the error itself. Errors are clamped
  // because rare bursts must not rule.
  repeated = (repeated - wanted).cwiseMax(-2).cwiseMin(2) / static_cast<float>(kColumns);
  into.out.noalias() = repeated * widened.transpose();
  into.out_bias = repeated.rowwise().sum();
  d_widened.noalias() = layers.out.transpose() * repeated;
  d_widened.array() *= 1 - widened.array().square();
  into.wide.noalias() = d_widened * code.transpose();
  into.wide_bias = d_widened.rowwise().sum();
  d_code.noalias() = layers.wide.transpose() * d_widened;
  into.narrow.noalias() = d_code * hidden.transpose();
  into.narrow_bias = d_code.rowwise().sum();
  d_hidden.noalias() = layers.narrow.transpose() * d_code;
  d_hidden.array() *= 1 - hidden.array().square();
  into.in.noalias() = d_hidden * input.transpose();
  into.in_bias = d_hidden.rowwise().sum();
}

void AutoencoderFit::Work::descend() {
  ++steps;
  const float progress = static_cast<float>(visited) / static_cast<float>(kVisits);
  const auto count = static_cast<float>(steps);
  const float rate = kRate * std::pow(0.01F, std::min(progress, 1.0F)) *
                     std::sqrt(1 - std::pow(kSecondMoment, count)) /
                     (1 - std::pow(kFirstMoment, count));
  const auto size = static_cast<Eigen::Index>(gradient.size());
  using Array = Eigen::Map<Eigen::ArrayXf>;
  Array weights(model->weights().data(), size), slope(gradient.data(), size);
  Array mean(first.data(), size), square(second.data(), size);
  mean = kFirstMoment * mean + (1 - kFirstMoment) * slope;
  square = kSecondMoment * square + (1 - kSecondMoment) * slope.square();
  weights -= rate * mean / (square.sqrt() + 1e-8F);
}

bool AutoencoderFit::step(std::size_t rows) {
  for (std::size_t done = 0; done < rows && work_->visited < kVisits; done += kBatch) {
    work_->fillBatch();
    work_->differentiate();
    work_->descend();
  }
  return work_->visited >= kVisits;
}

std::unique_ptr<Autoencoder> AutoencoderFit::take() { return std::move(work_->model); }

}  // namespace pingloom::collector::analytics
