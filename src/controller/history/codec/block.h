// A block holds rows of one source's window or minute as history keeps them. It has six sections,
// each compressed separately, so that a reader decompresses only what it is asked for.
// docs/history-format.md has the layout. One thread per object.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/vocabulary.h"
#include "controller/history/codec/columns.h"
#include "controller/history/codec/compression.h"
#include "controller/history/codec/count_columns.h"
#include "controller/history/codec/part_reader.h"
#include "controller/model/board.h"
#include "plan/plan.h"

namespace pingloom::controller {

constexpr std::size_t kMaxBlockPairs = 65'536;
constexpr std::size_t kMaxSectionBytes = 16U << 20;  // after decompression
constexpr std::size_t kSections = 2 + kRowParts.size();

struct BlockHead {
  Protocol protocol = Protocol::kUdp;
  ClockSource clock = ClockSource::kKernel;
  std::string device;
  bool minute = false;  // rolled up; minimum and mean are unknown

  bool operator==(const BlockHead&) const = default;
};

// Puts a block together.
class BlockWriter {
 public:
  // REQUIRES: destinations ascend and are at most kMaxBlockPairs; rows and parts belong to them.
  // The summaries of `rows` are not used. The result is valid until the next call.
  Result<std::string_view> write(const BlockHead& head, std::span<const IpAddress> destinations,
                                 std::span<const Row> rows, unsigned jitter_merged,
                                 std::span<const ColumnWriter, kRowParts.size()> parts);

 private:
  Compressor compressor_;
  ColumnWriter section_;
  std::string sections_;
  std::string block_;
};

// Takes a block apart. Its bytes come from a disk, so false means that they are damaged; they must
// live as long as the reader reads them. What was read stays valid until the next open(), which
// reuses the memory.
class BlockReader {
 public:
  // `budget` is the number of bytes that zstd may still produce, for this block and others; it
  // outlives the reader. Without it each section may have kMaxSectionBytes.
  explicit BlockReader(std::size_t* budget = nullptr) : budget_(budget) {}

  bool open(std::string_view bytes);               // the block is at their beginning
  std::string_view rest() const { return rest_; }  // the bytes that follow it
  const BlockHead& head() const { return head_; }
  const plan::AddressList& destinations() const { return destinations_; }
  // Grows when the destinations may have changed.
  std::uint64_t headsRead() const { return heads_read_; }
  bool readCounts();
  bool readPart(std::size_t part);  // an index into kRowParts
  bool readAll();

  // REQUIRES for all below: their section has been read.
  void counts(std::size_t pair, Row& row) const { counts_.fill(pair, row); }
  // Whether pairCounts() needs part 0 (network), which tells what the counts do not.
  bool countsNeedNetwork() const { return !counts_.showTimed(); }
  // Appends the counts of all destinations. REQUIRES: part 0 has been read if it is needed.
  void pairCounts(std::vector<CountRun>& out);
  void jitter(std::uint64_t* out) const { counts_.jitter(out); }
  // As PartReader::percentiles().
  void percentiles(std::size_t part, std::uint64_t percent, std::uint64_t* out) const {
    parts_[part].percentiles(percent, out);
  }
  std::span<const Run> samples(std::size_t part, std::size_t pair) { return parts_[part].of(pair); }
  std::uint64_t sampleCount(std::size_t part, std::size_t pair) const {
    return parts_[part].count(pair);
  }

 private:
  bool readHead(std::string_view section);
  bool readDestinations(ColumnReader& in);
  bool section(std::size_t number, std::string& out);

  std::size_t* const budget_;
  Decompressor decompressor_;
  std::string_view rest_;
  std::array<std::string_view, kSections> sections_;
  std::array<std::string, kSections> bytes_;
  std::string last_head_;  // compressed; most windows of a source have the same
  std::uint64_t heads_read_ = 0;
  BlockHead head_;
  plan::AddressList destinations_;
  CountReader counts_;
  std::vector<std::uint8_t> marks_;  // by pair, 1: its counts may differ from the one before
  std::array<PartReader, kRowParts.size()> parts_;
  bool network_read_ = false;  // whether part 0 of this block has been read
};

}  // namespace pingloom::controller
