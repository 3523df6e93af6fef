#include "pages/client/page.h"

#include <utility>

#include "pages/registration.h"

namespace pingloom::pages::client {

namespace {

constexpr std::size_t kSlotsPerLine = 8;

std::size_t nextLine(std::size_t slot) {
  return (slot + kSlotsPerLine - 1) / kSlotsPerLine * kSlotsPerLine;
}

// Other processes and threads read a header while it is written, so stores are atomic.
template <typename T>
void publish(T* field, T value) {
  __atomic_store_n(field, value, __ATOMIC_RELEASE);
}

}  // namespace

Page::Page(std::uint32_t number, std::uint16_t flags, PageMemory memory)
    : number_(number), flags_(flags), memory_(std::move(memory)) {
  writeHeader();
}

void Page::writeHeader() {
  pingloom_page_header& header = page()->header;
  header.version = PINGLOOM_PAGE_VERSION;
  header.flags = flags_;
  publish(&header.slots, static_cast<std::uint32_t>(slots_));
  publish(&header.magic, PINGLOOM_PAGE_MAGIC);  // stored last, because it makes the page valid
}

std::size_t Page::firstSlot(const Definition& metric) const {
  if (metric.kind == PINGLOOM_INFO) return slots_;
  return line_taken_ || metric.own_line ? nextLine(slots_) : slots_;
}

bool Page::hasRoom(const Definition& metric) const {
  if (metric.kind == PINGLOOM_INFO && infos_ >= kMaxInfos) return false;
  // A group has this page only, so the environment leaves most of it to the application.
  const std::size_t most =
      grouped() && metric.has_environment ? kMaxSchemaBytes / 4 : kMaxSchemaBytes;
  return firstSlot(metric) + metric.slots <= PINGLOOM_PAGE_SLOTS &&
         schema_bytes_ + metric.schema_bytes <= most;
}

std::uint64_t* Page::add(Definition metric) {
  const std::size_t first = firstSlot(metric);
  metric.first = static_cast<std::uint16_t>(first);
  if (metric.kind == PINGLOOM_INFO) {
    ++infos_;
  } else {
    slots_ = first + metric.slots;
    line_taken_ = metric.own_line;
  }
  schema_bytes_ += metric.schema_bytes;
  metrics_.push_back(std::move(metric));
  publish(&page()->header.slots, static_cast<std::uint32_t>(slots_));  // the slots are already zero
  return page()->slots + first;
}

void Page::beat() { __atomic_fetch_add(&page()->header.heartbeat, 1, __ATOMIC_RELAXED); }

bool Page::startAnew() {
  const bool shareable = memory_.replace();
  writeHeader();
  forget();
  return shareable;
}

void Page::forget() {
  standing_ = Standing::kUnknown;
  told_ = 0;
  known_metrics_ = 0;
  publish(&page()->header.keep_one_in, std::uint32_t{0});  // what a former agent has said
}

void Page::belongsTo(std::uint64_t owner, std::uint64_t generation) {
  publish(&page()->header.owner, owner);
  publish(&page()->header.generation, generation);
  standing_ = Standing::kKnown;
}

void Page::metricKnown() {
  ++known_metrics_;
  __atomic_fetch_add(&page()->header.schema_version, 1, __ATOMIC_RELEASE);
}

}  // namespace pingloom::pages::client
