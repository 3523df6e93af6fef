// The writer's side of a table of paths: joins the postcards of a flow, and stores its path when it
// is complete, when the first postcard was kPatience ago, or when other flows need the room. What
// is stored is added to what the table has of the key, so later postcards complete a partial path.
// One thread; no call allocates.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "common/error.h"
#include "common/time.h"
#include "store/keyed_writer.h"
#include "store/layout.h"
#include "store/path_joiner.h"
#include "store/path_slot.h"

namespace pingloom::store {

// Another identity took the place of a hop's. The spans are valid during the call.
struct PathChange {
  std::span<const std::uint8_t> key;
  std::uint8_t hop = 0;
  std::span<const std::uint8_t> before, after;
};

struct Postcard {
  std::span<const std::uint8_t> key;
  std::uint8_t hop = 0;
  std::uint8_t hops = 0;                // of the path; 0 if not known
  std::span<const std::uint8_t> value;  // the identity, and optionally the time (kRttBytes)
};

class PathWriter {
 public:
  static constexpr std::uint64_t kMaxFlows = 131'072;  // at a time; not more than slots
  static constexpr Nanos kPatience = 2 * kSecond;

  struct Events {
    std::function<void(const PathChange&)> changed;
    std::uint64_t evicted = 0;  // keys that made room for others; the writer counts them here
  };

  // As KeyedWriter::create(). Besides, the writer needs about 150 bytes a flow, or 270 with
  // identities of 16 bytes.
  static Result<std::unique_ptr<PathWriter>> create(const Table& table,
                                                    std::span<std::uint8_t> content);

  // Whether the value has the right length for this table.
  bool takes(std::span<const std::uint8_t> value) const;
  // REQUIRES: a key of 1 to kMaxKeyBytes, takes(value), hop < hops unless hops is 0, and neither is
  // beyond the table's hops. Times do not decrease; the stamp is not 0.
  void add(const Postcard& postcard, Nanos now_mono, std::uint32_t stamp, Events& events);
  // Stores the paths of the flows that have waited long enough.
  void settle(Nanos now_mono, std::uint32_t stamp, Events& events);

  KeyedWriter& slots() { return *slots_; }
  const KeyedWriter& slots() const { return *slots_; }
  std::size_t flows() const { return joiner_.size(); }

 private:
  PathWriter(const Table& table, std::unique_ptr<KeyedWriter> slots);
  void store(std::uint32_t number, std::uint32_t stamp, Events& events);
  void merge(std::uint32_t number, Path& path, Events& events);

  const Table table_;
  const std::unique_ptr<KeyedWriter> slots_;
  PathJoiner joiner_;
};

}  // namespace pingloom::store
