// A block: rows of one source's window, or of its minute, as history keeps them: six sections,
// each compressed for itself, so that a reader takes apart only what it is asked for.
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
#include "controller/history/codec/part_codec.h"
#include "controller/model/board.h"
#include "plan/plan.h"

namespace pingloom::controller {

constexpr std::size_t kMaxBlockPairs = 65'536;
constexpr std::size_t kMaxSectionBytes = 16U << 20;  // once it is decompressed
constexpr std::size_t kSections = 2 + kRowParts.size();

struct BlockHead {
  Protocol protocol = Protocol::kUdp;
  ClockSource clock = ClockSource::kKernel;
  std::string device;
  bool minute = false;  // rolled up: minimum and mean are not known

  bool operator==(const BlockHead&) const = default;
};

// Puts a block together.
class BlockWriter {
 public:
  // REQUIRES: destinations ascending, at most kMaxBlockPairs; rows and parts belong to them.
  // `rows`: without their summaries. Valid until the next call.
  Result<std::string_view> write(const BlockHead& head, std::span<const IpAddress> destinations,
                                 std::span<const Row> rows, unsigned jitter_merged,
                                 std::span<const ColumnWriter, kRowParts.size()> parts);

 private:
  Compressor compressor_;
  ColumnWriter section_;
  std::string sections_;
  std::string block_;
};

// Takes a block apart, whose bytes have to live as long as it reads them. They come from a disk:
// false is damage. What it read stays valid until the next open(); memory is used again.
class BlockReader {
 public:
  // `budget`: bytes that may still come out of zstd, of this block and others; outlives the reader.
  // Without one: kMaxSectionBytes of each section.
  explicit BlockReader(std::size_t* budget = nullptr) : budget_(budget) {}

  bool open(std::string_view bytes);               // begin with the block
  std::string_view rest() const { return rest_; }  // what follows it
  const BlockHead& head() const { return head_; }
  const plan::AddressList& destinations() const { return destinations_; }
  // Grows when the destinations may have become others.
  std::uint64_t headsRead() const { return heads_read_; }
  bool readCounts();
  bool readPart(std::size_t part);  // of kRowParts
  bool readAll();

  // After the above.
  void counts(std::size_t pair, Row& row) const { counts_.fill(pair, row); }
  // Of all destinations, for which `out` has to have room.
  void pairCounts(PairCounts* out) const;
  void jitter(std::uint64_t* out) const { counts_.jitter(out); }
  // As PartReader has it.
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
  std::string last_head_;  // as it lies in the block: it is the same in most windows of a source
  std::uint64_t heads_read_ = 0;
  BlockHead head_;
  plan::AddressList destinations_;
  CountReader counts_;
  std::array<PartReader, kRowParts.size()> parts_;
};

}  // namespace pingloom::controller
