#include "translator/reporter_rules.h"

#include <algorithm>

#include "translator/table_name.h"

namespace pingloom::translator {

bool ReporterRule::mayWrite(std::uint16_t table) const {
  if (spec_.tables.empty()) return true;
  return std::find(writable_.begin(), writable_.end(), table) != writable_.end();
}

void ReporterRule::learn(const store::Head& head, std::set<std::string>& unknown) {
  writable_.clear();
  for (const std::string& name : spec_.tables) {
    const auto number = numberOf(name, head);
    if (number) {
      writable_.push_back(*number);
    } else {
      unknown.insert(name);
    }
  }
}

ReporterRules::ReporterRules(const ReporterSpecs& specs) {
  if (specs.empty()) {
    anybody_.emplace(ReporterSpec{});
    return;
  }
  for (const ReporterSpec& spec : specs) rules_.emplace(spec.id, ReporterRule(spec));
}

const ReporterRule* ReporterRules::find(std::uint32_t reporter, const IpAddress& source) const {
  const ReporterRule* rule = nullptr;
  if (anybody_) {
    rule = &*anybody_;
  } else if (const auto found = rules_.find(reporter); found != rules_.end()) {
    rule = &found->second;
  }
  return rule != nullptr && rule->admits(source) ? rule : nullptr;
}

std::vector<std::uint32_t> ReporterRules::numbers() const {
  std::vector<std::uint32_t> found;
  for (const auto& [number, rule] : rules_) found.push_back(number);
  return found;
}

void ReporterRules::learn(const store::Head& head) {
  if (learned_ == head.store) return;
  learned_ = head.store;
  std::set<std::string> unknown;
  for (auto& [id, rule] : rules_) rule.learn(head, unknown);
  warnOfUnknown("reporters", unknown);
}

}  // namespace pingloom::translator
