// The reporters that may report, and into which tables: what `reporters:` of the configuration
// says. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "store/layout.h"
#include "translator/reporter_config.h"
#include "wire/report_seal.h"

namespace pingloom::translator {

class ReporterRule {
 public:
  explicit ReporterRule(const ReporterSpec& spec) : spec_(spec) {}

  bool admits(const IpAddress& source) const { return spec_.addresses.contains(source); }
  // Returns nullptr if the reporter does not seal its datagrams.
  const wire::ReportKey* key() const { return spec_.key ? &*spec_.key : nullptr; }
  // REQUIRES: learn() was called.
  bool mayWrite(std::uint16_t table) const;
  // Finds the numbers of the tables that the rule names. Adds those that are not there to
  // `unknown`.
  void learn(const store::Head& head, std::set<std::string>& unknown);

 private:
  ReporterSpec spec_;
  std::vector<std::uint16_t> writable_;  // the numbers of spec_.tables
};

class ReporterRules {
 public:
  // Without specs everybody on this host may report under any number.
  // REQUIRES: the keys are loaded.
  explicit ReporterRules(const ReporterSpecs& specs);

  // Returns the rule for a datagram, or nullptr if nobody with that number may report from there.
  const ReporterRule* find(std::uint32_t reporter, const IpAddress& source) const;
  // The numbers of the configured reporters.
  std::vector<std::uint32_t> numbers() const;
  // To be called before mayWrite() of a rule. It costs nothing while the store is the same. Logs
  // the tables that the rules name and the store does not have.
  void learn(const store::Head& head);

 private:
  std::unordered_map<std::uint32_t, ReporterRule> rules_;
  std::optional<ReporterRule> anybody_;
  std::optional<std::uint64_t> learned_;  // the store
};

}  // namespace pingloom::translator
