// The metrics of one page as its agent knows them: what the agent has accepted, minus what the
// application has removed. Their definitions are the page's schema, in the order in which they were
// accepted.
// The slots of a removed metric rest for kRest, and nothing is defined on them meanwhile: a
// collector that still has the earlier schema would show the new metric's value as the old one's.
// After kRest no collector has it any more (page_server.h, kMaxBehind).
// Plain value of one thread; the caller passes the time. Memory: the schema's bytes, 12 bytes for
// each metric, and 4 KiB once a metric with slots has been removed.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "pages/registration.h"
#include "pages/schema.h"
#include "pingloom/page_format.h"

namespace pingloom::pages {

struct Refused {
  Refusal reason;
  std::string text;
};
template <typename T>
using Granted = tl::expected<T, Refused>;

class PageSchema {
 public:
  static constexpr Nanos kRest = 40 * kSecond;

  // Returns the metric that a definition describes, unless it is malformed or has no place here.
  Granted<Metric> check(std::span<const std::uint8_t> definition, Nanos now) const;
  // REQUIRES: check() has returned the metric.
  void add(const Metric& metric, std::span<const std::uint8_t> definition);
  // Removes the metric that was defined by exactly these bytes. Returns whether it had slots.
  Granted<bool> remove(std::span<const std::uint8_t> definition, Nanos now);

  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  std::uint32_t version() const { return version_; }  // grows by one with every change
  std::size_t metrics() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint32_t bytes;
    std::uint16_t first;
    std::uint16_t slots;
    bool info;
  };
  using Times = std::array<Nanos, PINGLOOM_PAGE_SLOTS>;

  std::vector<std::uint8_t> bytes_;
  std::vector<Entry> entries_;  // in the order of bytes_
  std::bitset<PINGLOOM_PAGE_SLOTS> taken_;
  std::unique_ptr<Times> rests_until_;  // by slot; nullptr if none has been given back
  std::size_t infos_ = 0;
  std::uint32_t version_ = 0;
};

}  // namespace pingloom::pages
