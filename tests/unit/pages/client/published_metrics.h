// What an agent has got of an application's metrics, for tests of bridges from other libraries.
#pragma once

#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "pages/schema.h"
#include "scripted_agent.h"

namespace pingloom::pages::test {

// Returns the metric with its slots. Its first label's value is `label`, unless that is empty.
inline std::pair<Metric, std::vector<std::uint64_t>> publishedMetric(
    const ScriptedAgent& agent, const std::string& name, const std::string& label = "") {
  for (const auto& [number, page] : agent.pages()) {
    for (const auto& definition : page.definitions) {
      Bytes bytes(definition);
      const auto made = readMetric(bytes);
      if (!made || made->name != name) continue;
      if (!label.empty() && made->labels.at(0).second != label) continue;
      std::vector<std::uint64_t> slots;
      for (int i = 0; i < made->slots; ++i) {
        slots.push_back(load(page.memory->slots[made->first_slot + i]));
      }
      return {*made, slots};
    }
  }
  return {};
}

// Returns a counter's value in the unit of its name; -1: there is none.
inline double publishedCounter(const ScriptedAgent& agent, const std::string& name,
                               const std::string& label = "") {
  const auto [made, slots] = publishedMetric(agent, name, label);
  if (slots.empty()) return -1;
  if (made.fractions) return std::bit_cast<double>(slots[0]);
  return UnitScale(made.unit)(static_cast<double>(slots[0]));
}

// Returns a gauge's value; -1: there is none.
inline double publishedGauge(const ScriptedAgent& agent, const std::string& name,
                             const std::string& label = "") {
  const auto slots = publishedMetric(agent, name, label).second;
  return slots.empty() ? -1 : std::bit_cast<double>(slots[0]);
}

}  // namespace pingloom::pages::test
