#include "pages/client/page.h"

#include <utility>

#include "pages/registration.h"

namespace pingloom::pages::client {

namespace {

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
  publishSlots();
  publish(&header.magic, PINGLOOM_PAGE_MAGIC);  // stored last, because it makes the page valid
}

void Page::publishSlots() {
  publish(&page()->header.slots, static_cast<std::uint32_t>(metrics_.usedSlots()));
}

bool Page::hasRoom(const Definition& metric) const {
  // A group has this page only, so the environment leaves most of it to the application.
  const bool less = grouped() && metric.has_environment;
  return metrics_.hasRoom(metric, less ? kMaxSchemaBytes / 4 : kMaxSchemaBytes);
}

MetricNumber Page::add(Definition definition) {
  const MetricNumber number = metrics_.add(std::move(definition));
  const Definition& placed = metric(number);
  // They may be those of a metric that was removed.
  for (std::size_t i = 0; i < placed.allSlots(); ++i) {
    __atomic_store_n(page()->slots + placed.first + i, 0, __ATOMIC_RELAXED);
  }
  publishSlots();
  return number;
}

void Page::beat() { __atomic_fetch_add(&page()->header.heartbeat, 1, __ATOMIC_RELAXED); }

bool Page::startAnew(Instant now) {
  const bool shareable = memory_.replace();
  writeHeader();
  forget(now);
  return shareable;
}

void Page::forget(Instant now) {
  standing_ = Standing::kUnknown;
  metrics_.startOver(now);
  publish(&page()->header.keep_one_in, std::uint32_t{0});  // what a former agent has said
}

void Page::belongsTo(std::uint64_t owner, std::uint64_t generation) {
  publish(&page()->header.owner, owner);
  publish(&page()->header.generation, generation);
  standing_ = Standing::kKnown;
}

std::optional<MetricTable::News> Page::news() const {
  return standing_ == Standing::kKnown ? metrics_.news() : std::nullopt;
}

void Page::countSchema() {
  __atomic_fetch_add(&page()->header.schema_version, 1, __ATOMIC_RELEASE);
}

void Page::metricKnown(MetricNumber metric) {
  metrics_.defined(metric);
  countSchema();
}

void Page::metricRemoved(MetricNumber metric, Instant now) {
  metrics_.forgotten(metric, now);
  countSchema();
}

}  // namespace pingloom::pages::client
