// Splits a batch in place without building the message. Reports stay serialized for the ledger, and
// rows are read one by one into reused memory, so that a hostile batch cannot grow.
// Views point into the frame. One thread per object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "control.pb.h"
#include "wire/control_protocol.h"
#include "wire/row_reader.h"

namespace pingloom::controller {

struct BatchParts {
  wire::BatchId id;
  std::vector<std::string_view> reports;  // serialized wire::Report
  std::string fault;                      // "" or why the rest of the batch was left out
};

constexpr std::size_t kMaxReportsInBatch = 65'536;
constexpr std::size_t kMaxRowBytes = 65'536;

// The kind of an AgentMessage by its first byte: a batch to commit, a batch that is only shown, or
// neither.
enum class BatchKind { kNone, kBatch, kLive };
BatchKind batchKind(std::string_view frame);

// Splits a batch of either kind. Returns an error if its identity is missing, because it cannot be
// acknowledged then.
Result<BatchParts> splitBatch(std::string_view frame);

// The fields of a report except for its rows, and the position of each row.
class ReportView {
 public:
  // The views are valid as long as `report`.
  Status read(std::string_view report);

  const wire::Report& head() const { return head_; }
  const std::vector<std::string_view>& rows() const { return rows_; }
  // Returns the row's fields, which are valid until the next call.
  Result<const wire::RowView*> row(std::size_t index);

 private:
  wire::Report head_;
  wire::RowReader row_reader_;
  std::string head_bytes_;
  std::vector<std::string_view> rows_;
};

}  // namespace pingloom::controller
