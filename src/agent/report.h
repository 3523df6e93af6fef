// Closed windows as the bytes of wire::Batch: rows are encoded one by one into a growing string,
// through one Row object that is used again, so that 10,000 pairs never exist as protobuf objects.
// One thread.
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
  // A batch ends with the report that takes it this far; a report ends where its rows reach it. So
  // a batch is less than twice as long.
  static constexpr std::size_t kTargetBytes = 2U << 20;

  // Called for every batch that is full; the reports are Batch.reports, serialized.
  using Sink = std::function<void(std::string_view reports)>;
  explicit BatchEncoder(Sink sink);
  ~BatchEncoder();
  BatchEncoder(const BatchEncoder&) = delete;
  BatchEncoder& operator=(const BatchEncoder&) = delete;

  // Pairs without any count are left out, and a window of such pairs only, too.
  void add(const probe::ClosedWindow& window);
  void finish();  // hands over what is left, and gives its memory back

 private:
  struct Scratch;
  void beginReport(const probe::ClosedWindow& window);
  void endReport();

  Sink sink_;
  std::unique_ptr<Scratch> scratch_;
  std::string report_;   // the one being made; empty: none
  std::string reports_;  // finished, of the batch being made
};

// The batch with its identity: `reports` as the encoder made them.
std::string serializeBatch(wire::BatchId id, std::string_view reports);

}  // namespace pingloom::agent
