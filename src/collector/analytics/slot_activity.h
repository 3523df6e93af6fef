// Tracks how often each slot of a group moves. A slot that hardly ever moves (a constant, an error
// counter, a count of joins) has no usual value to deviate from: its moves are information and not
// an anomaly, until they have become frequent and their usual size has been learned.
// One thread; memory is taken at construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/analytics/rearrange.h"
#include "collector/analytics/state_archive.h"

namespace pingloom::collector::analytics {

class SlotActivity {
 public:
  // The shares of samples in which a slot moves from which on it is active, and below which it
  // ceases to be.
  static constexpr double kActive = 0.05;
  static constexpr double kIdle = 0.02;
  static constexpr double kMemory = 3600;      // samples
  static constexpr std::uint32_t kStuck = 20;  // a shorter run of equal values is no flat line

  explicit SlotActivity(std::size_t slots);

  // Takes the next sample. `settled` says that a slot that is not active has to prove itself; in
  // the warm-up all slots are equally young. `quiet` says that runs of equal values are usual.
  void observe(std::span<const double> sample, bool settled, bool quiet);
  bool active(std::size_t slot) const { return slots_[slot].active; }
  // The number of samples for which each slot has been active.
  std::span<const std::uint32_t> ages() const { return ages_; }
  // Says that all slots that are active now, and have been there for so many samples, have been
  // active for long.
  void settle(std::uint32_t samples);
  // Returns how long a slot has had the same value, in multiples of what is unusual; 0 if it is not
  // active, or young, or keeps its value often.
  double flat(std::size_t slot) const;
  void clear();
  void rearrange(SlotOrigins from);
  void state(StateArchive& archive) { archive(slots_, ages_); }

 private:
  struct Slot {
    double last = 0;
    std::uint32_t samples = 0;  // up to kMemory
    float moving = 0;           // the share of samples in which it moved
    std::uint32_t run = 0;      // samples since it moved
    std::uint32_t longest = 0;  // the longest run that was usual
    bool active = false;

    void state(StateArchive& archive) { archive(last, samples, moving, run, longest, active); }
  };
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> ages_;
};

}  // namespace pingloom::collector::analytics
