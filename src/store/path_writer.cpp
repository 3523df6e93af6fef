#include "store/path_writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "store/hash.h"

namespace pingloom::store {

Result<std::unique_ptr<PathWriter>> PathWriter::create(const Table& table,
                                                       std::span<std::uint8_t> content) {
  if (table.kind != TableKind::kPaths) {
    return makeError("table " + table.name, "is not one of paths");
  }
  auto slots = KeyedWriter::create(table, content);
  if (!slots) return tl::unexpected(slots.error());
  return std::unique_ptr<PathWriter>(new PathWriter(table, std::move(*slots)));
}

PathWriter::PathWriter(const Table& table, std::unique_ptr<KeyedWriter> slots)
    : table_(table),
      slots_(std::move(slots)),
      joiner_(std::min(kMaxFlows, table.units * table.ways), table.hops,
              table.identity_bytes + kRttBytes) {}

bool PathWriter::takes(std::span<const std::uint8_t> value) const {
  return value.size() == table_.identity_bytes || value.size() == table_.identity_bytes + kRttBytes;
}

void PathWriter::add(const Postcard& postcard, Nanos now_mono, std::uint32_t stamp,
                     Events& events) {
  const std::uint64_t hash = hashKey(postcard.key, table_.seed).low;
  std::uint32_t number = joiner_.find(hash, postcard.key);
  const std::uint16_t bit = static_cast<std::uint16_t>(1U << postcard.hop);
  if (number != PathJoiner::kNone && (joiner_.flow(number).present & bit) != 0) {
    store(number, stamp, events);  // a hop that comes again begins the next path
    number = PathJoiner::kNone;
  }
  if (number == PathJoiner::kNone) {
    if (joiner_.full()) store(joiner_.oldest(), stamp, events);
    number = joiner_.begin(hash, postcard.key, now_mono);
  }
  PathJoiner::Flow& flow = joiner_.flow(number);
  flow.present |= bit;
  if (postcard.hops != 0) flow.hops = postcard.hops;
  const auto place = joiner_.hop(number, postcard.hop);
  std::fill(std::copy(postcard.value.begin(), postcard.value.end(), place.begin()), place.end(), 0);
  if (Path::isComplete(flow.present, flow.hops)) store(number, stamp, events);
}

void PathWriter::settle(Nanos now_mono, std::uint32_t stamp, Events& events) {
  while (joiner_.oldest() != PathJoiner::kNone &&
         joiner_.flow(joiner_.oldest()).began + kPatience <= now_mono) {
    store(joiner_.oldest(), stamp, events);
  }
}

void PathWriter::store(std::uint32_t number, std::uint32_t stamp, Events& events) {
  const auto key = joiner_.flow(number).key();
  const KeyedWriter::Spot spot = slots_->locate(key);
  const auto known = slots_->recall(spot, key);
  Path path = known.empty() ? Path() : decodePath(table_, known);
  merge(number, path, events);
  std::array<std::uint8_t, kMaxSlotBytes> memory{};
  const auto value = std::span(memory).first(table_.value_bytes);
  encodePath(table_, path, value);
  if (slots_->place(spot, key, value, stamp) == Placed::kEvicted) ++events.evicted;
  joiner_.remove(number);
}

// Adds the flow's hops to what is known of its path.
void PathWriter::merge(std::uint32_t number, Path& path, Events& events) {
  const PathJoiner::Flow& flow = joiner_.flow(number);
  for (std::uint8_t i = 0; i < table_.hops; ++i) {
    if ((flow.present >> i & 1) == 0) continue;
    const auto hop = joiner_.hop(number, i);
    const auto after = hop.first(table_.identity_bytes);
    const auto before = std::span(path.hop[i].identity).first(table_.identity_bytes);
    if (path.has(i) && !std::equal(after.begin(), after.end(), before.begin())) {
      path.changes += path.changes == UINT32_MAX ? 0 : 1;
      events.changed({flow.key(), i, before, after});
    }
    std::copy(after.begin(), after.end(), before.begin());
    std::uint32_t rtt = 0;
    for (const std::uint8_t byte : hop.subspan(table_.identity_bytes)) rtt = rtt << 8 | byte;
    path.hop[i].rtt_ns = rtt;
  }
  path.present |= flow.present;
  if (flow.hops != 0) path.hops = flow.hops;
  // A hop beyond the path's end shows that its length is no longer known.
  if ((flow.present & ~Path::maskOf(path.hops)) != 0) path.hops = 0;
  if (path.hops != 0) path.present &= Path::maskOf(path.hops);
}

}  // namespace pingloom::store
