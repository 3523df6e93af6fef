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

// Appends a row. REQUIRES: readRow() has accepted it.
void appendRelayedRow(const IpAddress& destination, const PackedRow& row, std::string& out);

// Reads rows from the front. The bytes come from outside.
class RelayedRowReader {
 public:
  // REQUIRES: the bytes outlive the reader.
  explicit RelayedRowReader(std::string_view bytes) : rest_(bytes) {}

  bool ended() const { return rest_.empty(); }
  // Begins the next row. REQUIRES: !ended(), and the row before it was read.
  Result<IpAddress> destination();
  // Reads the rest of the row, which stays where it is. If that fails, nothing more can be read.
  Result<PackedRow> row();

 private:
  std::string_view rest_;
  std::uint32_t head_ = 0;  // that of the row that has been begun
};

}  // namespace pingloom::controller
