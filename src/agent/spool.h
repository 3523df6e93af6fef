// Keeps batches on disk until the controller has committed them, in append-only segment files in
// one directory; beyond the bound the oldest are dropped. A batch is in the page cache before it is
// sent, so killing the agent loses none. If the disk accepts nothing, batches wait in memory
// (kMaxHeldBytes). One thread.
// Bounds: max_bytes on disk; kMaxBatches index entries of 24 bytes; no payloads in memory except
// those that the disk did not accept.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/batch_source.h"
#include "agent/spool_file.h"
#include "common/error.h"

namespace pingloom::agent {

struct SpoolStatus {
  std::uint64_t batches = 0;  // number of batches held now
  std::uint64_t bytes = 0;    // their bytes in files and memory
  // The counters below count since the start.
  std::uint64_t appended = 0;
  std::uint64_t dropped = 0;       // batches lost to the bound
  std::uint64_t damaged = 0;       // records that could not be read back
  std::uint64_t truncated = 0;     // files that ended within a record
  std::uint64_t write_errors = 0;  // batches that the disk did not accept
};

class Spool : public BatchSource {
 public:
  static constexpr std::uint64_t kSegmentBytes = 1U << 20;
  static constexpr std::size_t kMaxBatches = 100'000;
  static constexpr std::uint64_t kMaxHeldBytes = 4U << 20;

  // Opens the spool that an earlier run left in `directory`, which is created if it is missing.
  static Result<std::unique_ptr<Spool>> open(const std::filesystem::path& directory,
                                             std::uint64_t max_bytes);

  // Adds a batch. It never fails; a batch that cannot be kept is counted. REQUIRES: id is larger
  // than all earlier ones.
  void append(wire::BatchId id, std::string_view payload);
  std::optional<StoredBatch> next(wire::BatchId after) override;
  void acknowledge(wire::BatchId up_to) override;

  const SpoolStatus& status() const { return status_; }
  wire::BatchId newest() const override { return newest_; }

 private:
  struct Segment {
    std::filesystem::path path;  // empty if held in memory
    std::uint64_t bytes = 0;
    std::deque<SpoolEntry> entries;
    std::deque<std::string> held;  // the payloads if path is empty
    bool closed = false;
  };

  Spool(std::filesystem::path directory, std::uint64_t max_bytes)
      : directory_(std::move(directory)), max_bytes_(max_bytes) {}
  Status recover();
  void recoverFile(const std::filesystem::path& path);
  Status appendToFile(wire::BatchId id, std::string_view payload);
  void hold(wire::BatchId id, std::string_view payload);
  Segment& startSegment(std::filesystem::path path);
  void removeSegment(std::size_t at);
  void dropOldest();
  void keepWithinBounds();
  std::uint64_t heldBytes() const;

  std::filesystem::path directory_;
  std::uint64_t max_bytes_;
  std::deque<Segment> segments_;       // oldest first; ids ascend across them
  std::optional<SpoolWriter> writer_;  // writes the last segment while its file is open
  std::uint64_t next_number_ = 1;
  SpoolStatus status_;
  wire::BatchId newest_;
  bool full_logged_ = false;
  bool disk_logged_ = false;
};

}  // namespace pingloom::agent
