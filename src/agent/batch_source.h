// Where the control client gets the batches that it sends: the agent's spool, or a simulator's
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

// One thread: the one that runs the control client.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // The first batch behind `after` that is still held, in the order of their ids.
  virtual std::optional<StoredBatch> next(wire::BatchId after) = 0;
  // Of all that were ever added; nothing where none was.
  virtual wire::BatchId newest() const = 0;
  // The controller has committed it and all before it: they are forgotten.
  virtual void acknowledge(wire::BatchId up_to) = 0;
};

}  // namespace pingloom::agent
