// The switches that send packets of the published DTA: which may, into which tables, and what was
// lost on the way. One thread. Bound: kMaxSources.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "common/address.h"
#include "store/layout.h"
#include "translator/reporter_config.h"
#include "wire/report.h"

namespace pingloom::translator {

class PublishedSources {
 public:
  static constexpr std::size_t kMaxSources = 4096;

  explicit PublishedSources(const PublishedSpec& spec) : spec_(spec) {}

  bool admits(const IpAddress& source) const { return spec_.addresses.contains(source); }
  // Finds the numbers of the tables. It costs nothing while the store is the same.
  void learn(const store::Head& head);
  // Returns nullopt if packets of the operation are not taken. REQUIRES: learn() was called.
  std::optional<std::uint16_t> tableFor(wire::ReportOperation operation) const {
    return tables_[static_cast<std::size_t>(operation) - 1];
  }
  // Returns how many packets are missing between the latest one of the source and this one. A
  // sequence has 8 bits only: one that is 128 or more ahead is taken for an older packet, which has
  // been counted as lost already. Nothing is counted for sources beyond kMaxSources.
  std::uint8_t lostBefore(const IpAddress& source, std::uint8_t sequence);

 private:
  PublishedSpec spec_;
  std::array<std::optional<std::uint16_t>, wire::kReportOperations> tables_;
  std::optional<std::uint64_t> learned_;  // the store
  std::unordered_map<IpAddress, std::uint8_t, IpAddressHash> latest_;
};

}  // namespace pingloom::translator
