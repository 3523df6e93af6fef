// The content of a row of the ledger: the blocks of a window or minute, one after the other. Each
// block has few pairs, so that one pair is read without most others.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "controller/history/codec/block.h"

namespace pingloom::controller {

// Pairs of a block. Larger blocks take fewer bytes a pair, which matters most for minutes; smaller
// ones make a single pair faster to read.
constexpr std::size_t kWindowPairs = 512;
constexpr std::size_t kMinutePairs = 1024;
constexpr std::size_t kMaxContentPairs = kMaxBlockPairs;
constexpr std::size_t kMaxBlocks = 2 * kMaxContentPairs / kWindowPairs;
constexpr std::size_t kMaxContentBytes = kSections * kMaxSectionBytes;  // after decompression

// Pairs of each block but the last, when `pairs` are spread evenly over as few blocks as possible.
constexpr std::size_t evenBlockPairs(std::size_t pairs, std::size_t most) {
  const std::size_t blocks = std::max<std::size_t>(1, (pairs + most - 1) / most);
  return std::max<std::size_t>(1, (pairs + blocks - 1) / blocks);
}

// Opens all blocks of a content, whose bytes must live as long as they are read. Each place in the
// content has its own reader, because the block there mostly has the same head as in the content
// before. One thread uses it.
class ContentReader {
 public:
  // False: a block is damaged, destinations do not ascend through all blocks, or there are more
  // than kMaxContentPairs or kMaxBlocks. At most kMaxContentBytes are decompressed.
  bool open(std::string_view content);
  bool readAll();

  // REQUIRES for all below: open() returned true.
  const BlockHead& head() const { return readers_.front()->head(); }  // all blocks have this head
  std::size_t blocks() const { return blocks_; }
  BlockReader& block(std::size_t at) { return *readers_[at]; }
  std::size_t pairs() const { return pairs_; }
  bool hasDestinations(const plan::AddressList& destinations) const;  // exactly these
  plan::AddressList destinations() const;

 private:
  std::size_t budget_ = 0;
  std::vector<std::unique_ptr<BlockReader>> readers_;
  std::size_t blocks_ = 0;
  std::size_t pairs_ = 0;
};

}  // namespace pingloom::controller
