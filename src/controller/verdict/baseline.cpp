#include "controller/verdict/baseline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "controller/model/limits.h"

namespace pingloom::controller {
namespace {

// A source's median is taken over a sample of its pairs.
constexpr std::size_t kMaxSample = 256;

std::uint64_t takeMedian(std::vector<std::uint64_t>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  const std::uint64_t median = *middle;
  values.clear();
  return median;
}

bool isByClass(Figure figure) { return figure == Figure::kNetwork || figure == Figure::kRtt; }

// The number of each label value of each address; 0 stands for none.
using LabelNumbers = std::map<IpAddress, std::vector<std::uint32_t>>;

LabelNumbers labelNumbers(const GridPlan& plan, const std::vector<std::string>& labels) {
  LabelNumbers made;
  std::map<std::string, std::uint32_t> numbers;
  for (const pinglist::Host& host : plan.pinglist->hosts) {
    std::vector<std::uint32_t> values;
    for (const std::string& label : labels) {
      const auto value = host.labels.find(label);
      const bool has = value != host.labels.end() && !value->second.empty();
      values.push_back(
          !has ? 0
               : numbers.emplace(label + '=' + value->second, numbers.size() + 1).first->second);
    }
    for (const auto& [name, address] : host.addresses) made[address] = values;
  }
  return made;
}

std::vector<std::uint32_t> numbersOf(const plan::AddressList& list, const LabelNumbers& numbers,
                                     std::size_t labels) {
  std::vector<std::uint32_t> made;
  made.reserve(list.size() * labels);
  for (const IpAddress& address : list) {
    const auto found = numbers.find(address);
    for (std::size_t i = 0; i < labels; ++i) {
      made.push_back(found == numbers.end() ? 0 : found->second[i]);
    }
  }
  return made;
}

std::vector<std::string> usedLabels(const pinglist::Pinglist& pinglist) {
  std::vector<std::string> made;
  for (const std::string_view label : kTopologyLabels) {
    const std::string text(label);
    const bool used =
        std::any_of(pinglist.hosts.begin(), pinglist.hosts.end(),
                    [&text](const pinglist::Host& host) { return host.labels.contains(text); });
    if (used) made.push_back(text);
  }
  return made;
}

}  // namespace

DistanceClasses::DistanceClasses(const GridPlan& plan, const ProbeGrid& probe) {
  if (plan.pinglist == nullptr) return;
  const auto labels = usedLabels(*plan.pinglist);
  if (labels.empty()) return;
  const auto numbers = labelNumbers(plan, labels);
  labels_ = labels.size();
  sources_ = numbersOf(probe.sources, numbers, labels_);
  destinations_ = numbersOf(probe.destinations, numbers, labels_);
}

void ProbeBaseline::take(std::uint32_t source, const Rows* rows, const DistanceClasses& classes) {
  dirty_ = true;
  Medians& made = medians_[source];
  made = {};
  if (rows == nullptr) return;
  const auto& entries = rows->entries();
  const std::size_t step = entries.size() / kMaxSample + 1;
  figures_.clear();
  for (std::size_t i = 0; i < entries.size(); i += step) {
    figures_.emplace_back(figuresOf(rows->of(entries[i])), entries[i].destination);
  }
  std::array<std::vector<std::uint64_t>, kMaxClasses> by_class;
  for (std::size_t f = 0; f < kFigureNames.size(); ++f) {
    const auto figure = static_cast<Figure>(f);
    if (figure == Figure::kLoss) continue;
    for (const auto& [row, destination] : figures_) {
      if (row.counts.sent == 0) continue;
      std::uint64_t value = 0;
      if (!judgedValue(row, figure, value)) continue;
      values_.push_back(value + (isShare(figure) ? 1 : 0));
      if (isByClass(figure)) by_class[classes.of(source, destination)].push_back(value);
    }
    made.all[f] = takeMedian(values_);
    for (std::size_t c = 0; c < kMaxClasses; ++c) made.by_class[c][f] = takeMedian(by_class[c]);
  }
}

const ProbeBaseline::Classes& ProbeBaseline::at(Nanos now_mono) {
  if (dirty_ && (refreshed_mono_ == 0 || now_mono - refreshed_mono_ >= kRefresh)) refresh(now_mono);
  return current_;
}

std::uint64_t ProbeBaseline::medianOf(const Baseline& (*pick)(const Medians& of, std::size_t at),
                                      std::size_t at, std::size_t figure) {
  for (const Medians& source : medians_) {
    const std::uint64_t value = pick(source, at)[figure];
    if (value != 0) values_.push_back(value);
  }
  return takeMedian(values_);
}

void ProbeBaseline::refresh(Nanos now_mono) {
  const double passed = static_cast<double>(now_mono - refreshed_mono_);
  const double share = std::min(passed / static_cast<double>(kDrift), 1.0);
  const auto all = [](const Medians& of, std::size_t) -> const Baseline& { return of.all; };
  const auto by_class = [](const Medians& of, std::size_t c) -> const Baseline& {
    return of.by_class[c];
  };
  for (std::size_t f = 0; f < kFigureNames.size(); ++f) {
    const auto figure = static_cast<Figure>(f);
    const std::uint64_t found = medianOf(all, 0, f);
    const std::uint64_t now = isShare(figure) && found != 0 ? found - 1 : found;
    for (std::size_t c = 0; c < kMaxClasses; ++c) {
      current_[c][f] = now;
      if (!isByClass(figure)) continue;
      double& usual = usual_[c][f];
      const auto here = static_cast<double>(medianOf(by_class, c, f));
      if (here > 0) usual = usual == 0 ? here : usual * std::pow(here / usual, share);
      current_[c][f] = std::max(now, static_cast<std::uint64_t>(usual));
    }
  }
  refreshed_mono_ = now_mono;
  dirty_ = false;
}

}  // namespace pingloom::controller
