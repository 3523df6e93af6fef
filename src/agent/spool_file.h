// One segment of the spool on disk: records, one after the other.
//
//   offset  bytes  (all numbers little endian)
//        0      4  length of the payload
//        4      4  CRC-32C of everything behind this field
//        8      8  incarnation
//       16      8  sequence
//       24      n  payload: a serialized wire::Batch
//
// Records are only appended. One that ends beyond the file was being written when the agent was
// killed.
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
// Below what the controller takes in one message (16 MiB): a larger batch would end the connection
// whenever it is sent.
constexpr std::uint32_t kMaxRecordPayload = 15U << 20;

struct SpoolEntry {
  wire::BatchId id;
  std::uint32_t offset = 0;  // of the record
  std::uint32_t length = 0;  // of its payload
};

std::string recordHeader(wire::BatchId id, std::string_view payload);

struct SpoolScan {
  std::vector<SpoolEntry> entries;  // in the file's order
  std::uint64_t bytes = 0;          // of the file
  std::uint64_t damaged = 0;        // records whose checksum is wrong
  bool truncated = false;           // ends within a record
};

// Everything in the file that is whole. Reads it record by record.
Result<SpoolScan> scanSpoolFile(const std::filesystem::path& path);

// The payload; an error where the file cannot be read or the record is not what it was.
Result<std::string> readSpoolRecord(const std::filesystem::path& path, const SpoolEntry& entry);

// The segment that is being written. Move-only.
class SpoolWriter {
 public:
  static Result<SpoolWriter> create(const std::filesystem::path& path);
  // On failure nothing of the record stays in the file.
  Status append(wire::BatchId id, std::string_view payload);

 private:
  explicit SpoolWriter(UniqueFd fd, std::string name)
      : fd_(std::move(fd)), name_(std::move(name)) {}
  UniqueFd fd_;
  std::string name_;
  std::int64_t size_ = 0;
};

}  // namespace pingloom::agent
