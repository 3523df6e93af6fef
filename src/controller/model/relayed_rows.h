// The rows that a controller tells others of its agents (docs/control-messages.md, "RelayedBatch").
// A row has what Row has, so that whoever reads it neither sees samples nor sorts them. The reader
// checks all that readRow() checks of an agent's row. Any thread; one per object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "controller/model/rows.h"

namespace pingloom::controller {

constexpr std::size_t kMaxRelayedRow = 312;  // bytes; the most that one row takes

// Appends a row. REQUIRES: readRow() has accepted it.
void appendRelayedRow(const IpAddress& destination, const Row& row, std::string& out);

// Reads rows from the front. The bytes come from outside.
class RelayedRowReader {
 public:
  // REQUIRES: the bytes outlive the reader.
  explicit RelayedRowReader(std::string_view bytes) : rest_(bytes) {}

  bool ended() const { return rest_.empty(); }
  // Begins the next row. REQUIRES: !ended(), and the row before it was read.
  Result<IpAddress> destination();
  // Reads the rest of the row. If that fails, `out` is unspecified, and nothing more can be read.
  Status row(Row& out);

 private:
  std::string_view rest_;
  std::uint32_t head_ = 0;  // that of the row that has been begun
};

}  // namespace pingloom::controller
