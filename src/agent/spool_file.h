// A segment file of the spool, which is a sequence of records.
//
//   offset  bytes  (all numbers little endian)
//        0      4  length of the payload
//        4      4  CRC-32C of everything behind this field
//        8      8  incarnation
//       16      8  sequence
//       24      n  payload: a serialized wire::Batch
// Records are only appended. A record that ends beyond the file was being written when the agent
// was killed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agent/batch_source.h"
#include "common/error.h"
#include "common/fd.h"
#include "wire/control_protocol.h"

namespace pingloom::agent {

constexpr std::size_t kRecordHeader = 24;
// This is below the controller's limit for a message (16 MiB), because a larger batch would end the
// connection whenever it is sent.
constexpr std::uint32_t kMaxRecordPayload = 15U << 20;

struct SpoolEntry {
  wire::BatchId id;
  std::uint32_t offset = 0;  // offset of the record
  std::uint32_t length = 0;  // length of its payload
};

std::string recordHeader(wire::BatchId id, std::string_view payload);

struct SpoolScan {
  std::vector<SpoolEntry> entries;  // ordered as in the file
  std::uint64_t bytes = 0;          // size of the file
  std::uint64_t damaged = 0;        // records with a wrong checksum
  bool truncated = false;           // whether the file ends within a record
};

// Returns all intact records. It reads the file record by record.
Result<SpoolScan> scanSpoolFile(const std::filesystem::path& path);

// Returns the payload, or an error if the file cannot be read or the record has changed.
Result<std::string> readSpoolRecord(const std::filesystem::path& path, const SpoolEntry& entry);

// The segment that is being written. Move-only.
class SpoolWriter {
 public:
  static Result<SpoolWriter> create(const std::filesystem::path& path);
  // Appends a record. After a failure no part of it is left in the file.
  Status append(wire::BatchId id, std::string_view payload);

 private:
  explicit SpoolWriter(UniqueFd fd, std::string name)
      : fd_(std::move(fd)), name_(std::move(name)) {}
  UniqueFd fd_;
  std::string name_;
  std::int64_t size_ = 0;
};

}  // namespace pingloom::agent
