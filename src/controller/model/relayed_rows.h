// The rows that a controller tells others of its agents (docs/control-messages.md, "RelayedBatch").
// They are packed as Rows keeps them, so that whoever reads one neither sees samples nor sorts
// them, nor packs it again. The reader checks all that readRow() checks of an agent's row. Any
// thread; one per object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "controller/model/packed_row.h"

namespace pingloom::controller {

constexpr std::size_t kMaxRelayedRow = 312;  // bytes; the most that one row takes
// Bytes that an IPv4 row without failures takes, with jitter and the counterpart's count, whose
// counts are below 256 and times below 65 us.
constexpr std::size_t kUsualRelayedRow = 75;

// Appends a row. REQUIRES: readRow() has accepted it.
void appendRelayedRow(const IpAddress& destination, const PackedRow& row, std::string& out);

// Reads rows from the front. The bytes come from outside.
class RelayedRowReader {
 public:
  // REQUIRES: the bytes outlive the reader.
  explicit RelayedRowReader(std::string_view bytes) : rest_(bytes) {}

  // Reads the next row, which stays where it is. Returns false and leaves both at the end, and
  // where the row is malformed, after which nothing more can be read.
  bool next(IpAddress& destination, PackedRow& row);
  // An error if the last row that was asked for is malformed.
  const Status& status() const { return status_; }

 private:
  bool refuse(const char* reason);

  std::string_view rest_;
  Status status_;
};

}  // namespace pingloom::controller
