// Holds the connects in flight in a slab, with two queues per task, oldest first: connects that
// wait for their verdict, and connects whose timeout is over but whose late answer still counts.
// One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/fd.h"
#include "common/time.h"
#include "probe/task_list.h"

namespace pingloom::probe::tcp {

enum class ConnectPhase : std::uint8_t {
  kWaiting,
  kUndecided,  // the timeout is over, but this host has stalled meanwhile
  kLost,       // counted as lost; a late answer is counted in addition
};

struct Connect {
  UniqueFd socket;
  Nanos sent_mono = 0;  // T0
  std::uint64_t window = 0;
  std::uint32_t task = 0;
  std::uint32_t target = 0;
  ConnectPhase phase = ConnectPhase::kWaiting;
};

// Bound: `most` connects of 64 bytes. Memory is allocated when needed and kept.
class ConnectTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::uint64_t kFirstKey = std::uint64_t{1} << 32;  // keyOf() returns no less
  enum Queue : std::uint8_t { kWaiting = 0, kLingering = 1 };

  explicit ConnectTable(std::size_t most) : most_(most) {}

  bool full() const { return size_ >= most_; }
  std::size_t size() const { return size_; }
  // Appends the connect to its task's kWaiting. REQUIRES: !full(), and the task's number is below
  // the number of tasks.
  std::uint32_t add(Connect&& connect);
  Connect& operator[](std::uint32_t slot) { return entries_[slot].connect; }
  const Connect& operator[](std::uint32_t slot) const { return entries_[slot].connect; }
  // Moves the connect from kWaiting to the end of kLingering.
  void linger(std::uint32_t slot, ConnectPhase phase);
  void remove(std::uint32_t slot);  // closes its socket
  std::uint32_t oldest(std::uint32_t task, Queue queue) const { return lists_[task][queue].first; }

  // Returns the key by which the event loop watches the connect. It differs for each use of a slot.
  std::uint64_t keyOf(std::uint32_t slot) const;
  // Returns the slot of a key, or kNone when that connect is over.
  std::uint32_t find(std::uint64_t key) const;

  // Follows a plan change: `moves` says where the old tasks went, and `tasks` is their new number.
  void move(const std::vector<TaskMove>& moves, std::size_t tasks);
  // Adds one task behind the others.
  void addTask() { lists_.emplace_back(); }

 private:
  struct Entry {
    Connect connect;
    std::uint32_t use = 0;  // odd while in use
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;  // also chains the free entries
    Queue queue = kWaiting;
  };
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  using TaskLists = std::array<List, 2>;

  void append(std::uint32_t slot, Queue queue);
  void unlink(std::uint32_t slot);

  std::size_t most_;
  std::size_t size_ = 0;
  std::vector<Entry> entries_;
  std::uint32_t first_free_ = kNone;
  std::vector<TaskLists> lists_;
};

}  // namespace pingloom::probe::tcp
