// A metric as the application described it, checked by the same rules that the agent goes by
// (pages/registration.h), so that what is made here is not refused there.
#pragma once

#include <pingloom/pages.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pages/client/outcome.h"

namespace pingloom::pages::client {

struct Label {
  std::string name;
  std::string value;
  auto operator<=>(const Label&) const = default;
};

struct Definition {
  pingloom_metric_kind kind = PINGLOOM_COUNTER;
  bool shared = false;    // several threads write
  bool own_line = false;  // PINGLOOM_OWN_LINE
  pingloom_histogram_shape shape{};
  double unit = 1;
  std::string name;
  std::string help;
  std::vector<Label> labels;  // by name
  std::uint16_t first = 0;    // slot; set by the page that it was placed on
  std::uint16_t slots = 0;
  std::size_t schema_bytes = 0;  // of encode()

  std::string key() const;  // the same for the same name and labels, and for no others
  bool sameMetric(const Definition& other) const;
  std::vector<std::uint8_t> encode() const;  // what follows the head of kDefine
};

// Checks and copies. `common`: the labels that all metrics of the application have.
Outcome makeLabels(const pingloom_label* labels, std::size_t count,
                   const std::vector<Label>& common, std::vector<Label>* made);
Outcome makeDefinition(const pingloom_metric& metric, pingloom_metric_kind kind, bool shared,
                       const std::vector<Label>& common, Definition* made);
// The application's name: a text of 1 to 64 bytes.
Outcome checkApplication(const std::string& name);

}  // namespace pingloom::pages::client
