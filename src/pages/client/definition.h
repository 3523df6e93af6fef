// A metric as the application described it. It is checked by the agent's own rules
// (pages/registration.h), so that the agent does not refuse it.
#pragma once

#include <pingloom/pages.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pingloom::pages::client {

// The result of an operation: a code of pingloom/pages.h and a message. It does not use
// common/error.h, because the library that applications link depends on no other part of pingloom.
struct Outcome {
  int error = PINGLOOM_OK;
  std::string text;

  bool ok() const { return error == PINGLOOM_OK; }
};

struct Label {
  std::string name;
  std::string value;
  auto operator<=>(const Label&) const = default;
};

// The labels that metrics have beside their own.
struct CommonLabels {
  std::vector<Label> application;  // registered with the agent, so every metric has them
  std::vector<Label> environment;  // each metric has as many of these as it has room for
};

// What the values of a metric are.
struct Form {
  pingloom_metric_kind kind = PINGLOOM_COUNTER;
  bool shared = false;     // whether several threads write it
  bool fractions = false;  // whether the slot of a counter is a double

  bool operator==(const Form&) const = default;
};

struct Definition {
  Form form;
  bool own_line = false;   // PINGLOOM_OWN_LINE
  bool exemplars = false;  // PINGLOOM_EXEMPLARS
  pingloom_histogram_shape shape{};
  double unit = 1;
  std::string name;
  std::string help;
  std::vector<Label> labels;     // sorted by name
  bool has_environment = false;  // whether some of them come from the environment
  std::vector<double> bounds;    // a histogram's, if it has no shape; a summary's quantiles
  std::uint16_t first = 0;       // first slot; set by the page on which it is placed
  std::uint16_t slots = 0;
  std::size_t schema_bytes = 0;  // the size of encode()

  std::size_t allSlots() const;  // with those of its exemplars, which follow `slots`

  std::string key() const;  // identifies the combination of name and labels
  bool sameMetric(const Definition& other) const;
  std::vector<std::uint8_t> encode() const;  // the body of kDefine
};

// Checks and copies the labels. `common` are the labels of all metrics of the application.
Outcome makeLabels(const pingloom_label* labels, std::size_t count,
                   const std::vector<Label>& common, std::vector<Label>* made);
// A histogram with `bounds` has no shape. For a summary they are its quantiles.
Outcome makeDefinition(const pingloom_metric& metric, const Form& form,
                       const std::vector<double>& bounds, const CommonLabels& common,
                       Definition* made);
// Checks the application's name, which is a text of 1 to 64 bytes.
Outcome checkApplication(const std::string& name);

}  // namespace pingloom::pages::client
