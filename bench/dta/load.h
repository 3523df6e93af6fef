// The datagrams of a load, made before anything is measured. One thread. Memory: about 42 bytes
// for each report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "key_source.h"
#include "wire/report.h"

namespace pingloom::bench {

struct LoadOptions {
  wire::ReportOperation operation = wire::ReportOperation::kKeyWrite;
  std::uint16_t table = 1;
  std::uint32_t keys = 0;  // flows, of which each has kHops postcards
  Spread spread = Spread::kUniform;
  std::uint64_t reports = 0;
};

class Load {
 public:
  static constexpr std::size_t kValueBytes = 16;
  static constexpr std::uint8_t kHops = 5;

  // The first datagram has the sequence `first`.
  Load(const LoadOptions& options, std::uint32_t first);

  std::size_t datagrams() const { return ends_.size(); }
  std::uint64_t reports() const { return reports_; }
  std::uint32_t nextSequence() const { return sequence_; }
  std::span<const std::uint8_t> datagram(std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::span(bytes_).subspan(begin, ends_[index] - begin);
  }

 private:
  std::uint64_t reports_ = 0;
  std::uint32_t sequence_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::size_t> ends_;  // of datagrams in bytes_
};

// Writes the reports of a load, one after the other. One thread.
class ReportSource {
 public:
  ReportSource(const LoadOptions& options, std::uint64_t seed);
  // The report's key and value point into this until the next call.
  const wire::ReportItem& next();

 private:
  LoadOptions options_;
  KeySource keys_;
  FlowKey key_{};
  std::vector<std::uint8_t> value_;
  std::uint64_t count_ = 0;
  std::uint8_t hop_ = 0;
  wire::ReportItem item_;
};

}  // namespace pingloom::bench
