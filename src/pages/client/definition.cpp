#include "pages/client/definition.h"

#include <algorithm>
#include <cstring>

#include "pages/client/encoder.h"
#include "pages/client/environment.h"
#include "pages/definition_rules.h"
#include "pages/exemplar_rules.h"

namespace pingloom::pages::client {

namespace {

constexpr pingloom_histogram_shape kUsualShape{10, 34, 2};

Outcome badArgument(const std::string& what, const std::string& why) {
  return {PINGLOOM_BAD_ARGUMENT, what + ": " + why};
}

// Copies at most one byte more than `most`, which suffices to detect a text that is too long.
std::string boundedCopy(const char* text, std::size_t most) {
  return text == nullptr ? std::string() : std::string(text, strnlen(text, most + 1));
}

bool hasLabel(const std::vector<Label>& labels, const std::string& name) {
  return std::any_of(labels.begin(), labels.end(),
                     [&name](const Label& label) { return label.name == name; });
}

bool hasUnit(const Form& form) {
  return form.kind == PINGLOOM_HISTOGRAM || (form.kind == PINGLOOM_COUNTER && !form.fractions);
}

Outcome setUnit(const pingloom_metric& metric, Definition* made) {
  const double unit = metric.unit == 0 ? 1 : metric.unit;
  if (!isUnit(unit)) return badArgument(made->name, "the unit is not a number from 1e-30 to 1e30");
  if (hasUnit(made->form)) made->unit = unit;
  if (unit == 1 || !made->form.fractions) return {};
  return badArgument(made->name, "its values are doubles in the unit of the name: multiply them");
}

Outcome shapeHistogram(const pingloom_metric& metric, Definition* made) {
  const pingloom_histogram_shape& asked = metric.shape;
  const bool none = asked.lowest == 0 && asked.highest == 0 && asked.precision == 0;
  const pingloom_histogram_shape shape = none ? kUsualShape : asked;
  if (!isHistogramShape(shape)) return badArgument(made->name, "no histogram has this shape");
  if (pingloom_histogram_slots(shape) > PINGLOOM_PAGE_SLOTS) {
    return badArgument(made->name, "a histogram of this shape is larger than a page");
  }
  made->shape = shape;
  made->slots = static_cast<std::uint16_t>(pingloom_histogram_slots(shape));
  return {};
}

Outcome boundHistogram(const std::vector<double>& bounds, Definition* made) {
  if (!areBounds(bounds)) {
    return badArgument(made->name, "its bounds are not 1 to " + std::to_string(kMaxBounds) +
                                       " finite numbers in ascending order");
  }
  made->bounds = bounds;
  made->slots = static_cast<std::uint16_t>(bounds.size() + 2);
  return {};
}

Outcome shapeSummary(const std::vector<double>& quantiles, Definition* made) {
  if (!areQuantiles(quantiles)) {
    return badArgument(made->name, "its quantiles are not up to " + std::to_string(kMaxQuantiles) +
                                       " numbers from 0 to 1 in ascending order");
  }
  if (hasLabel(made->labels, kQuantileLabel)) {
    return badArgument(made->name, "a summary has no label 'quantile' of its own");
  }
  made->bounds = quantiles;
  made->slots = static_cast<std::uint16_t>(quantiles.size() + kSummarySlots);
  return {};
}

Outcome addExemplars(Definition* made) {
  if (exemplarPlaces(made->form.kind) == 0) {
    return badArgument(made->name, "only counters and histograms have exemplars");
  }
  made->exemplars = true;
  if (made->allSlots() <= PINGLOOM_PAGE_SLOTS) return {};
  return badArgument(made->name, "with its exemplars it is larger than a page");
}

}  // namespace

std::size_t Definition::allSlots() const {
  return slots + (exemplars ? exemplarSlots(form.kind) : 0);
}

std::string Definition::key() const {
  // Names and texts contain no zero byte, so it separates them.
  std::string text = name;
  for (const Label& label : labels) {
    text += '\0';
    text += label.name + '\0' + label.value;
  }
  return text;
}

bool Definition::sameMetric(const Definition& other) const {
  return form == other.form && unit == other.unit && shape.lowest == other.shape.lowest &&
         shape.highest == other.shape.highest && shape.precision == other.shape.precision &&
         bounds == other.bounds && exemplars == other.exemplars;
}

std::vector<std::uint8_t> Definition::encode() const {
  Encoder encoder;
  const MetricFlag exemplars_flag = form.fractions ? kFractionsExemplars : kExemplars;
  // Agents that do not know the flag take a counter with fractions for a gauge.
  encoder.u8(static_cast<std::uint8_t>(form.fractions ? PINGLOOM_GAUGE : form.kind));
  encoder.u8(static_cast<std::uint8_t>(
      (form.shared ? kSharedWriters : 0) | (bounds.empty() ? 0 : kBounds) |
      (form.fractions ? kFractions : 0) | (exemplars ? exemplars_flag : 0)));
  encoder.u16(first);
  encoder.u16(slots);
  encoder.u8(shape.lowest);
  encoder.u8(shape.highest);
  encoder.u8(shape.precision);
  encoder.u8(static_cast<std::uint8_t>(labels.size()));
  encoder.f64(unit);
  encoder.shortText(name);
  encoder.text(help);
  for (const Label& label : labels) {
    encoder.shortText(label.name);
    encoder.text(label.value);
  }
  if (!bounds.empty()) {
    encoder.u16(static_cast<std::uint16_t>(bounds.size()));
    for (const double bound : bounds) encoder.f64(bound);
  }
  return encoder.take();
}

Outcome makeLabels(const pingloom_label* labels, std::size_t count,
                   const std::vector<Label>& common, std::vector<Label>* made) {
  if (count + common.size() > kMaxLabels || (count > 0 && labels == nullptr)) {
    return badArgument("labels", "more than " + std::to_string(kMaxLabels) + ", or none given");
  }
  for (std::size_t i = 0; i < count; ++i) {
    Label label{boundedCopy(labels[i].name, kMaxNameBytes),
                boundedCopy(labels[i].value, kMaxLabelBytes)};
    if (!isLabelName(label.name)) {
      return badArgument("label '" + label.name + "'", "not a label's name");
    }
    if (label.value.size() > kMaxLabelBytes || !isText(label.value)) {
      return badArgument("label '" + label.name + "'",
                         "its value is too long, or not printable UTF-8");
    }
    if (hasLabel(common, label.name) || hasLabel(*made, label.name)) {
      return badArgument("label '" + label.name + "'", "given twice");
    }
    made->push_back(std::move(label));
  }
  std::sort(made->begin(), made->end());
  return {};
}

Outcome makeDefinition(const pingloom_metric& metric, const Form& form,
                       const std::vector<double>& bounds, const CommonLabels& common,
                       Definition* made) {
  const pingloom_metric_kind kind = form.kind;
  made->form = form;
  made->own_line = (metric.options & PINGLOOM_OWN_LINE) != 0;
  made->name = boundedCopy(metric.name, kMaxNameBytes);
  if (!isMetricName(made->name)) return badArgument("'" + made->name + "'", "not a metric's name");
  made->help = boundedCopy(metric.help, kMaxHelpBytes);
  if (made->help.size() > kMaxHelpBytes || !isText(made->help)) {
    return badArgument(made->name, "its help is too long, or not printable UTF-8");
  }
  if (Outcome labels =
          makeLabels(metric.labels, metric.label_count, common.application, &made->labels);
      !labels.ok()) {
    return badArgument(made->name, labels.text);
  }
  made->has_environment = addEnvironment(common.environment, common.application, &made->labels);
  Outcome shaped;
  if (kind == PINGLOOM_HISTOGRAM || kind == PINGLOOM_COUNTER) shaped = setUnit(metric, made);
  made->slots = kind == PINGLOOM_INFO ? 0 : 1;
  if (shaped.ok() && kind == PINGLOOM_HISTOGRAM) {
    shaped = bounds.empty() ? shapeHistogram(metric, made) : boundHistogram(bounds, made);
  }
  if (kind == PINGLOOM_SUMMARY) shaped = shapeSummary(bounds, made);
  if (shaped.ok() && (metric.options & PINGLOOM_EXEMPLARS) != 0) shaped = addExemplars(made);
  made->schema_bytes = made->encode().size();  // independent of the slots
  return shaped;
}

Outcome checkApplication(const std::string& name) {
  if (!name.empty() && name.size() <= kMaxApplicationBytes && isText(name)) return {};
  return badArgument("application '" + name.substr(0, kMaxApplicationBytes) + "'",
                     "not 1 to 64 bytes of printable UTF-8");
}

}  // namespace pingloom::pages::client
