// Where the control client gets the batches that it sends: the agent's spool, or a simulator's
// memory.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace pingloom::agent {

constexpr std::uint64_t kMaxIncarnation = INT64_MAX;

// What counts a batch once, however often it is sent. Ordered: older incarnations first.
struct BatchId {
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;  // from 1 within an incarnation

  auto operator<=>(const BatchId&) const = default;
};

struct StoredBatch {
  BatchId id;
  std::string payload;  // a serialized wire::Batch
};

// One thread: the one that runs the control client.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // The first batch behind `after` that is still held, in the order of their ids.
  virtual std::optional<StoredBatch> next(BatchId after) = 0;
  // Of all that were ever added; nothing where none was.
  virtual BatchId newest() const = 0;
  // The controller has committed it and all before it: they are forgotten.
  virtual void acknowledge(BatchId up_to) = 0;
};

}  // namespace pingloom::agent
