#include "probe/exchange_table.h"

#include <algorithm>

namespace pingloom::probe {
namespace {

constexpr std::uint32_t kSlotMask = (1U << ExchangeTable::kSlotBits) - 1;
constexpr std::uint32_t kOneGeneration = 1U << ExchangeTable::kSlotBits;

}  // namespace

ExchangeTable::ExchangeTable() { grow(); }

bool ExchangeTable::grow() {
  const auto first = static_cast<std::uint32_t>(chunks_.size() * kChunk);
  if (first > kMax) return false;
  chunks_.push_back(std::make_unique<Exchange[]>(kChunk));
  for (std::uint32_t slot = first + kChunk - 1; slot > 0 && slot >= first; --slot) {
    at(slot).id = slot;
    at(slot).newer = free_;
    free_ = slot;
  }
  return true;
}

std::uint32_t ExchangeTable::freeSlot() {
  if (free_ == 0 && !grow()) return 0;
  const std::uint32_t slot = free_;
  free_ = at(slot).newer;
  return slot;
}

int ExchangeTable::queueFor(Nanos lifetime) {
  int unused = -1;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    if (queues_[i].lifetime == lifetime) return static_cast<int>(i);
    if (queues_[i].oldest == 0) unused = static_cast<int>(i);
  }
  if (unused < 0) {
    if (queues_.size() == kMaxQueues) return -1;
    unused = static_cast<int>(queues_.size());
    queues_.emplace_back();
  }
  queues_[static_cast<std::size_t>(unused)] = {.lifetime = lifetime};
  return unused;
}

Exchange* ExchangeTable::open(Nanos lifetime, const Instant& sent) {
  const int number = queueFor(lifetime);
  if (number < 0) return nullptr;
  const std::uint32_t slot = freeSlot();
  if (slot == 0) return nullptr;
  Exchange& made = at(slot);
  Queue& queue = queues_[static_cast<std::size_t>(number)];
  const std::uint32_t id = made.id + kOneGeneration;
  made = Exchange{};
  made.id = id;
  made.times.sent = sent;
  made.state = ExchangeState::kOpen;
  made.queue = static_cast<std::uint16_t>(number);
  made.older = queue.newest;
  if (queue.newest != 0) at(queue.newest).newer = slot;
  queue.newest = slot;
  if (queue.oldest == 0) queue.oldest = slot;
  if (queue.unseen == 0) queue.unseen = slot;
  ++size_;
  return &made;
}

Exchange* ExchangeTable::find(std::uint32_t id) {
  const std::uint32_t slot = id & kSlotMask;
  if (slot == 0 || slot >= chunks_.size() * kChunk) return nullptr;
  Exchange& found = at(slot);
  return found.id == id && found.state != ExchangeState::kFree ? &found : nullptr;
}

void ExchangeTable::release(Exchange& exchange) {
  const std::uint32_t slot = exchange.id & kSlotMask;
  Queue& queue = queues_[exchange.queue];
  if (queue.unseen == slot) queue.unseen = exchange.newer;
  (exchange.older != 0 ? at(exchange.older).newer : queue.oldest) = exchange.newer;
  (exchange.newer != 0 ? at(exchange.newer).older : queue.newest) = exchange.older;
  exchange.state = ExchangeState::kFree;
  exchange.newer = free_;
  free_ = slot;
  --size_;
}

Nanos ExchangeTable::nextExpiry() const {
  Nanos next = kNever;
  for (const Queue& queue : queues_) {
    if (queue.oldest == 0) continue;
    next = std::min(next, at(queue.oldest).times.sent.mono + queue.lifetime);
  }
  return next;
}

Exchange* ExchangeTable::expired(Nanos now) {
  for (const Queue& queue : queues_) {
    if (queue.oldest == 0) continue;
    Exchange& oldest = at(queue.oldest);
    if (oldest.times.sent.mono + queue.lifetime <= now) return &oldest;
  }
  return nullptr;
}

Nanos ExchangeTable::nextOverdue(Nanos grace) const {
  Nanos next = kNever;
  for (const Queue& queue : queues_) {
    if (queue.unseen == 0) continue;
    next = std::min(next, at(queue.unseen).times.sent.mono + queue.lifetime - grace);
  }
  return next;
}

Exchange* ExchangeTable::overdue(Nanos now, Nanos grace) {
  for (Queue& queue : queues_) {
    while (queue.unseen != 0) {
      Exchange& first = at(queue.unseen);
      const bool open = first.state == ExchangeState::kOpen;
      if (open && first.times.sent.mono + queue.lifetime - grace > now) break;
      queue.unseen = first.newer;
      if (open) return &first;
    }
  }
  return nullptr;
}

}  // namespace pingloom::probe
