// Encodes closed windows as a serialized wire::Batch. Rows are encoded one by one through a reused
// Row object into a growing string, so that 10,000 pairs never exist as protobuf objects. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "agent/batch_source.h"
#include "probe/window.h"
#include "wire/control_protocol.h"

namespace pingloom::agent {

class BatchEncoder {
 public:
  // A report ends when its rows reach this size, and a batch ends with the report that reaches it,
  // so a batch has less than twice this size.
  static constexpr std::size_t kTargetBytes = 2U << 20;

  // Called for every complete batch with the serialized Batch.reports.
  using Sink = std::function<void(std::string_view reports)>;
  explicit BatchEncoder(Sink sink);
  ~BatchEncoder();
  BatchEncoder(const BatchEncoder&) = delete;
  BatchEncoder& operator=(const BatchEncoder&) = delete;

  // Adds a window. Pairs without any count are left out, and so is a window with only such pairs.
  void add(const probe::ClosedWindow& window);
  void finish();  // passes the rest to the sink and releases the memory

 private:
  struct Scratch;
  void beginReport(const probe::ClosedWindow& window);
  void endReport();

  Sink sink_;
  std::unique_ptr<Scratch> scratch_;
  std::string report_;   // the current report; empty if there is none
  std::string reports_;  // finished reports of the current batch
};

// Tells whether anything was counted; the others are in no report.
bool hasCounts(const probe::PairWindow& pair);

// Serializes a batch from its identity and the `reports` of the encoder.
std::string serializeBatch(wire::BatchId id, std::string_view reports);

}  // namespace pingloom::agent
