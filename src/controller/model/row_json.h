// Writes a row as the line of JSON that Redis holds and /api/v1/pairs shows; docs/redis-keys.md
// explains its fields.
#pragma once

#include <optional>
#include <string>

#include "controller/model/board.h"

namespace pingloom::controller {

struct RowJsonOptions {
  std::uint32_t path = 0;             // which of several; 0: the row of all together
  bool rolled_up = false;             // the row has neither minimum nor mean
  std::optional<Judged> judged = {};  // what is judged of the pair; nullopt leaves out its severity
  // What the row was judged against; nullptr leaves out the reasons.
  const Baseline* baseline = nullptr;
};

// Writes the rows of one source. Any thread may use it; it does not change.
class RowJson {
 public:
  // Keeps nothing of its arguments but copies.
  RowJson(const plan::ProbeSpec& probe, const SourceRows& source);

  // Appends the object to `out`. Only the reasons of a pair that is not well allocate memory beyond
  // `out`'s own.
  void append(const Row& row, PairState state, std::string& out,
              const RowJsonOptions& options = {}) const;

 private:
  // All rows of the source share these texts: the one before the state, and the one from the clock
  // on.
  std::string head_;
  std::string tail_;
};

}  // namespace pingloom::controller
