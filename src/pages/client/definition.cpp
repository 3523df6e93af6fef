#include "pages/client/definition.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "pages/client/encoder.h"
#include "pages/registration.h"

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

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool isName(const std::string& name, bool colons) {
  if (name.empty() || name.size() > kMaxNameBytes) return false;
  if (name[0] >= '0' && name[0] <= '9') return false;
  return std::all_of(name.begin(), name.end(), [colons](char c) {
    return isLetter(c) || (c >= '0' && c <= '9') || (colons && c == ':');
  });
}

// Returns the length of the UTF-8 character at `at`, or 0 if it is invalid.
std::size_t characterBytes(const std::string& text, std::size_t at) {
  const auto byte = [&text](std::size_t i) {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
  };
  const std::uint8_t lead = byte(at);
  if (lead < 0x80) return lead < 0x20 || lead == 0x7F ? 0 : 1;  // rejects control characters
  const std::size_t bytes = lead >= 0xF5   ? 0
                            : lead >= 0xF0 ? 4
                            : lead >= 0xE0 ? 3
                            : lead >= 0xC2 ? 2
                                           : 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  const std::uint8_t second = byte(at + 1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool not_a_character = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || not_a_character ? 0 : bytes;
}

bool isText(const std::string& text, std::size_t most) {
  if (text.size() > most) return false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = characterBytes(text, at);
    if (bytes == 0) return false;
    at += bytes;
  }
  return true;
}

bool hasLabel(const std::vector<Label>& labels, const std::string& name) {
  return std::any_of(labels.begin(), labels.end(),
                     [&name](const Label& label) { return label.name == name; });
}

Outcome shapeHistogram(const pingloom_metric& metric, Definition* made) {
  const pingloom_histogram_shape& asked = metric.shape;
  const bool none = asked.lowest == 0 && asked.highest == 0 && asked.precision == 0;
  const pingloom_histogram_shape shape = none ? kUsualShape : asked;
  if (shape.highest > 63 || shape.lowest >= shape.highest || shape.precision > 5 ||
      shape.precision > shape.lowest) {
    return badArgument(made->name, "no histogram has this shape");
  }
  if (pingloom_histogram_slots(shape) > PINGLOOM_PAGE_SLOTS) {
    return badArgument(made->name, "a histogram of this shape is larger than a page");
  }
  made->unit = metric.unit == 0 ? 1 : metric.unit;
  if (!std::isfinite(made->unit) || made->unit < 0) {
    return badArgument(made->name, "the unit is not a number above 0");
  }
  made->shape = shape;
  made->slots = static_cast<std::uint16_t>(pingloom_histogram_slots(shape));
  return {};
}

}  // namespace

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
  return kind == other.kind && shared == other.shared && unit == other.unit &&
         shape.lowest == other.shape.lowest && shape.highest == other.shape.highest &&
         shape.precision == other.shape.precision;
}

std::vector<std::uint8_t> Definition::encode() const {
  Encoder encoder;
  encoder.u8(static_cast<std::uint8_t>(kind));
  encoder.u8(shared ? kSharedWriters : 0);
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
    // Prometheus reserves names with two underscores, and `le` is the label of buckets.
    if (!isName(label.name, false) || label.name.compare(0, 2, "__") == 0 || label.name == "le") {
      return badArgument("label '" + label.name + "'", "not a label's name");
    }
    if (!isText(label.value, kMaxLabelBytes)) {
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

Outcome makeDefinition(const pingloom_metric& metric, pingloom_metric_kind kind, bool shared,
                       const std::vector<Label>& common, Definition* made) {
  made->kind = kind;
  made->shared = shared;
  made->own_line = (metric.options & PINGLOOM_OWN_LINE) != 0;
  made->name = boundedCopy(metric.name, kMaxNameBytes);
  if (!isName(made->name, true)) return badArgument("'" + made->name + "'", "not a metric's name");
  made->help = boundedCopy(metric.help, kMaxHelpBytes);
  if (!isText(made->help, kMaxHelpBytes)) {
    return badArgument(made->name, "its help is too long, or not printable UTF-8");
  }
  if (Outcome labels = makeLabels(metric.labels, metric.label_count, common, &made->labels);
      !labels.ok()) {
    return badArgument(made->name, labels.text);
  }
  made->schema_bytes = made->encode().size();  // independent of the slots
  if (kind == PINGLOOM_HISTOGRAM) return shapeHistogram(metric, made);
  made->slots = kind == PINGLOOM_INFO ? 0 : 1;
  return {};
}

Outcome checkApplication(const std::string& name) {
  if (!name.empty() && isText(name, kMaxApplicationBytes)) return {};
  return badArgument("application '" + name.substr(0, kMaxApplicationBytes) + "'",
                     "not 1 to 64 bytes of printable UTF-8");
}

}  // namespace pingloom::pages::client
