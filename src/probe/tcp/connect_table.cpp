#include "probe/tcp/connect_table.h"

#include <utility>

namespace pingloom::probe::tcp {

std::uint32_t ConnectTable::add(Connect&& connect) {
  if (first_free_ == kNone) {
    first_free_ = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  }
  const std::uint32_t slot = first_free_;
  Entry& entry = entries_[slot];
  first_free_ = entry.next;
  entry.connect = std::move(connect);
  ++entry.use;
  ++size_;
  append(slot, kWaiting);
  return slot;
}

void ConnectTable::linger(std::uint32_t slot, ConnectPhase phase) {
  unlink(slot);
  entries_[slot].connect.phase = phase;
  append(slot, kLingering);
}

void ConnectTable::remove(std::uint32_t slot) {
  unlink(slot);
  Entry& entry = entries_[slot];
  entry.connect.socket.reset();
  ++entry.use;
  entry.next = first_free_;
  first_free_ = slot;
  --size_;
}

std::uint64_t ConnectTable::keyOf(std::uint32_t slot) const {
  return (std::uint64_t{entries_[slot].use} << 32) | slot;
}

std::uint32_t ConnectTable::find(std::uint64_t key) const {
  const auto slot = static_cast<std::uint32_t>(key);
  return slot < entries_.size() && keyOf(slot) == key ? slot : kNone;
}

void ConnectTable::move(const std::vector<TaskMove>& moves, std::size_t tasks) {
  // The old lists stay valid while entries leave them.
  for (std::uint32_t old_task = 0; old_task < moves.size(); ++old_task) {
    const TaskMove& move = moves[old_task];
    for (const Queue queue : {kWaiting, kLingering}) {
      std::uint32_t slot = lists_[old_task][queue].first;
      while (slot != kNone) {
        Entry& entry = entries_[slot];
        const std::uint32_t following = entry.next;
        const std::uint32_t target = move.task == kGone ? kGone : move.target(entry.connect.target);
        if (target == kGone) {
          remove(slot);
        } else {
          entry.connect.target = target;
        }
        slot = following;
      }
    }
  }
  std::vector<TaskLists> after(tasks);
  for (std::uint32_t old_task = 0; old_task < moves.size(); ++old_task) {
    const std::uint32_t task = moves[old_task].task;
    if (task == kGone) continue;
    after[task] = lists_[old_task];
    for (const List& list : after[task]) {
      for (std::uint32_t slot = list.first; slot != kNone; slot = entries_[slot].next) {
        entries_[slot].connect.task = task;
      }
    }
  }
  lists_ = std::move(after);
}

void ConnectTable::append(std::uint32_t slot, Queue queue) {
  Entry& entry = entries_[slot];
  List& list = lists_[entry.connect.task][queue];
  entry.queue = queue;
  entry.previous = list.last;
  entry.next = kNone;
  (list.last == kNone ? list.first : entries_[list.last].next) = slot;
  list.last = slot;
}

void ConnectTable::unlink(std::uint32_t slot) {
  const Entry& entry = entries_[slot];
  List& list = lists_[entry.connect.task][entry.queue];
  (entry.previous == kNone ? list.first : entries_[entry.previous].next) = entry.next;
  (entry.next == kNone ? list.last : entries_[entry.next].previous) = entry.previous;
}

}  // namespace pingloom::probe::tcp
