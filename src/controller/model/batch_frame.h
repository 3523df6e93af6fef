// Takes a batch apart where it lies, without building it: the reports stay the bytes they are for
// the ledger, and rows are parsed one by one into one reused message, so that a hostile batch
// cannot grow in memory. Views point into the frame. One thread per object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "control.pb.h"
#include "wire/control_protocol.h"

namespace pingloom::controller {

struct BatchParts {
  wire::BatchId id;
  std::vector<std::string_view> reports;  // serialized wire::Report
  std::string fault;  // "" or what is wrong with the rest of it, which was left out
};

constexpr std::size_t kMaxReportsInBatch = 65'536;
constexpr std::size_t kMaxRowBytes = 65'536;

// By the first byte of an AgentMessage: a batch, the same only to be shown, or neither.
enum class BatchKind { kNone, kBatch, kLive };
BatchKind batchKind(std::string_view frame);

// Of either kind. An error where it cannot be told which batch it is: then it cannot be
// acknowledged.
Result<BatchParts> splitBatch(std::string_view frame);

// A report's fields but for its rows, and where each row lies.
class ReportView {
 public:
  // The views are valid as long as `report` is.
  Status read(std::string_view report);

  const wire::Report& head() const { return head_; }
  const std::vector<std::string_view>& rows() const { return rows_; }
  // The row's fields; valid until the next call.
  Result<const wire::Row*> row(std::size_t index);

 private:
  wire::Report head_;
  wire::Row row_;
  std::string head_bytes_;
  std::vector<std::string_view> rows_;
};

}  // namespace pingloom::controller
