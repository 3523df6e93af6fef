// The source of the batches that the control client sends: the agent's spool, or a simulator's
// memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "wire/control_protocol.h"

namespace pingloom::agent {

struct StoredBatch {
  wire::BatchId id;
  std::string payload;  // a serialized wire::Batch
};

// It is used by the thread that runs the control client.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Returns the first batch after `after` that is still held, in the order of ids.
  virtual std::optional<StoredBatch> next(wire::BatchId after) = 0;
  // Returns the id of the newest batch ever added, or an empty id.
  virtual wire::BatchId newest() const = 0;
  // Drops this batch and all earlier ones, which the controller has committed.
  virtual void acknowledge(wire::BatchId up_to) = 0;
};

}  // namespace pingloom::agent
