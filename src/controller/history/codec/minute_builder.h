// Rolls windows of a source up into a minute. Counts are added up, distributions are merged, and
// the minute's percentiles are those of the merged distributions. Jitter is the mean of the
// windows' jitter, weighted by what they received. The ledger's thread uses it. It keeps the memory
// of the largest minute so far, at most kMaxKeptPairs pairs.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/distribution.h"
#include "common/error.h"
#include "controller/history/codec/content.h"
#include "controller/history/codec/precision.h"
#include "controller/history/codec/row_sums.h"

namespace pingloom::controller {

class MinuteBuilder {
 public:
  static constexpr std::size_t kMaxKeptPairs = 8192;

  void clear();
  // Whether an open window can join this minute. It must resemble the first window, because rows
  // never mix clock sources, and a content has at most kMaxContentPairs.
  bool accepts(const ContentReader& window) const;
  // Adds all of the window. False: it is damaged, and nothing of it was added.
  // REQUIRES accepts(window).
  bool add(ContentReader& window);
  bool empty() const { return pairs_.empty(); }
  Result<std::string_view> content();  // valid until the next call

 private:
  struct Pair {
    Row row;
    MeanJitter jitter;
    std::array<Distribution, kRowParts.size()> parts;
  };
  static void merge(BlockReader& block, std::size_t from, Pair& into);
  void makeRoomFor(const ContentReader& window);
  Pair* fresh();
  Result<std::string_view> encode(const BlockHead& head, const MinutePrecision& precision);
  Result<std::string_view> encodeBlock(const BlockHead& head, std::size_t from, std::size_t pairs,
                                       const MinutePrecision& precision);

  BlockHead head_;
  plan::AddressList destinations_;
  std::vector<Pair*> pairs_;  // one for each destination
  std::vector<std::unique_ptr<Pair>> kept_;
  // So many elements at the beginning of kept_ are in use.
  std::size_t used_ = 0;
  std::vector<Row> rows_;
  std::array<ColumnWriter, kRowParts.size()> parts_;
  BlockWriter writer_;
  std::string content_;
  std::size_t level_ = 0;
};

}  // namespace pingloom::controller
