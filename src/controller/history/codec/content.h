// What a row of the ledger holds: the blocks of a window or minute, one after the other. Each has
// few enough pairs that one pair is read without the others.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "controller/history/codec/block.h"

namespace pingloom::controller {

// Of a block. More take fewer bytes each, which counts most for minutes; of fewer one is read
// sooner.
constexpr std::size_t kWindowPairs = 512;
constexpr std::size_t kMinutePairs = 1024;
constexpr std::size_t kMaxContentPairs = kMaxBlockPairs;
constexpr std::size_t kMaxBlocks = 2 * kMaxContentPairs / kWindowPairs;
constexpr std::size_t kMaxContentBytes = kSections * kMaxSectionBytes;  // once decompressed

// Pairs of each block, but for the last, where `pairs` are spread evenly over as few as can be.
constexpr std::size_t evenBlockPairs(std::size_t pairs, std::size_t most) {
  const std::size_t blocks = std::max<std::size_t>(1, (pairs + most - 1) / most);
  return std::max<std::size_t>(1, (pairs + blocks - 1) / blocks);
}

// Opens all blocks of a content, whose bytes have to live as long as they are read. There is a
// reader for each place: the block there mostly has the head of the one before. One thread.
class ContentReader {
 public:
  // False: something is damaged, destinations do not ascend through all blocks, or there are more
  // than kMaxContentPairs or kMaxBlocks. What is read of the blocks is at most kMaxContentBytes.
  bool open(std::string_view content);
  bool readAll();

  // After open().
  const BlockHead& head() const { return readers_.front()->head(); }  // of all blocks
  std::size_t blocks() const { return blocks_; }
  BlockReader& block(std::size_t at) { return *readers_[at]; }
  std::size_t pairs() const { return pairs_; }
  bool hasDestinations(const plan::AddressList& destinations) const;  // these, and no others
  plan::AddressList destinations() const;

 private:
  std::size_t budget_ = 0;
  std::vector<std::unique_ptr<BlockReader>> readers_;
  std::size_t blocks_ = 0;
  std::size_t pairs_ = 0;
};

}  // namespace pingloom::controller
