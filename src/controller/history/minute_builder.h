// Rolls windows of a source up into a minute: counts are added up, distributions merged, and the
// minute's percentiles are taken from the merged ones. jitter is the mean of the windows', by what
// they received. The ledger's thread. Memory: that of the largest minute so far, at most
// kMostKeptPairs, is used again.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "common/distribution.h"
#include "common/error.h"
#include "controller/history/block.h"
#include "controller/history/row_sums.h"

namespace pingloom::controller {

class MinuteBuilder {
 public:
  static constexpr std::size_t kMostKeptPairs = 8192;

  void clear();
  // Whether a window, whose block is open, can go into this minute, which is like the first one
  // that did: rows never mix clock sources, and a block has at most kMostBlockPairs.
  bool accepts(const BlockReader& block) const;
  // All of the block's parts. False: it is damaged, and nothing of it was taken.
  // REQUIRES accepts(block).
  bool add(BlockReader& block);
  bool empty() const { return pairs_.empty(); }
  Result<std::string_view> block();  // valid until the next call

 private:
  struct Pair {
    Row row;
    MeanJitter jitter;
    std::array<Distribution, kRowParts.size()> parts;
  };
  static void merge(BlockReader& block, std::size_t from, Pair& into);
  void makeRoomFor(const plan::AddressList& destinations);
  Pair* fresh();

  BlockHead head_;
  plan::AddressList destinations_;
  std::vector<Pair*> pairs_;  // one for each destination
  std::vector<std::unique_ptr<Pair>> kept_;
  std::size_t used_ = 0;  // of kept_
  std::vector<Row> rows_;
  std::array<ColumnWriter, kRowParts.size()> parts_;
  BlockWriter writer_;
  std::size_t level_ = 0;
};

}  // namespace pingloom::controller
