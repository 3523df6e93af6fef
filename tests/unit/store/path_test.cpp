#include <deque>

#include "store/key_text.h"
#include "store/keyed_reader.h"
#include "store/path_writer.h"
#include "store/tuple_key.h"
#include "store_support.h"

namespace pingloom::store::path_test {
namespace {

using test::Bytes;
using test::numberKey;

Table pathTable(std::uint64_t slots, std::uint16_t identity_bytes = 4) {
  TableSpec spec;
  spec.kind = TableKind::kPaths;
  spec.id = 1;
  spec.name = "paths";
  spec.slots = slots;
  spec.identity_bytes = identity_bytes;
  return test::tableOf(spec);
}

struct Change {
  std::uint64_t key = 0;
  unsigned hop = 0;
  unsigned before = 0, after = 0;

  bool operator==(const Change&) const = default;
};

struct Paths {
  explicit Paths(const Table& table)
      : content(table.bytes), store(table.bytes), writer(*PathWriter::create(table, content)) {
    events.changed = [this](const PathChange& change) {
      std::uint64_t key = 0;
      std::memcpy(&key, change.key.data(), sizeof key);
      changes.push_back({key, change.hop, change.before[3], change.after[3]});
    };
  }
  // The identity is 10.0.0.N; the time is N microseconds.
  void add(std::uint64_t key, std::uint8_t hop, std::uint8_t hops, std::uint8_t identity,
           Nanos now) {
    const std::uint32_t rtt = identity * 1000U;
    Bytes value(writer->slots().table().identity_bytes);
    value[0] = 10;
    value[3] = identity;
    for (int shift = 24; shift >= 0; shift -= 8) {
      value.push_back(static_cast<std::uint8_t>(rtt >> shift));
    }
    const Bytes bytes = numberKey(key);
    writer->add({bytes, hop, hops, value}, now, 1, events);
  }
  void flush() { test::flush(writer->slots(), store); }
  std::optional<Path> get(std::uint64_t key) const {
    const auto found = findKey(writer->slots().table(), store, numberKey(key));
    if (!found) return std::nullopt;
    return decodePath(writer->slots().table(), found->bytes());
  }
  void restart() {
    content = store;
    writer = std::move(*PathWriter::create(Table(writer->slots().table()), content));
    writer->slots().restore();
  }

  Bytes content;
  Bytes store;
  std::unique_ptr<PathWriter> writer;
  PathWriter::Events events;
  std::vector<Change> changes;
};

TEST(Path, IsStoredWhenItIsComplete) {
  for (const std::uint16_t identity : {4, 16}) {
    Paths paths(pathTable(100, identity));
    paths.add(7, 1, 3, 21, 0);
    paths.add(7, 0, 3, 20, 0);
    paths.flush();
    EXPECT_FALSE(paths.get(7));
    paths.add(7, 2, 3, 22, 0);
    EXPECT_EQ(paths.writer->flows(), 0U);
    paths.flush();
    const auto path = paths.get(7);
    ASSERT_TRUE(path);
    EXPECT_TRUE(path->complete());
    EXPECT_EQ(path->hops, 3);
    EXPECT_EQ(path->changes, 0U);
    EXPECT_EQ(path->hop[1].identity[3], 21);
    EXPECT_EQ(path->hop[2].rtt_ns, 22'000U);
  }
}

TEST(Path, ThatStaysPartialIsStoredAfterAWhileAndCompletedLater) {
  Paths paths(pathTable(100));
  paths.add(7, 0, 3, 20, 0);
  paths.writer->settle(PathWriter::kPatience - 1, 1, paths.events);
  EXPECT_EQ(paths.writer->flows(), 1U);
  paths.writer->settle(PathWriter::kPatience, 1, paths.events);
  paths.flush();
  ASSERT_TRUE(paths.get(7));
  EXPECT_FALSE(paths.get(7)->complete());
  EXPECT_EQ(paths.get(7)->present, 1);
  paths.restart();
  paths.add(7, 2, 3, 22, 5 * kSecond);
  paths.add(7, 1, 0, 21, 5 * kSecond);
  paths.writer->settle(8 * kSecond, 1, paths.events);
  paths.flush();
  EXPECT_TRUE(paths.get(7)->complete());
  EXPECT_EQ(paths.writer->slots().used(), 1U) << "the key keeps its slot";
  EXPECT_TRUE(paths.changes.empty());
}

TEST(Path, CountsItsChanges) {
  Paths paths(pathTable(100));
  for (const std::uint8_t middle : {50, 50, 51, 51, 50}) {
    paths.add(7, 0, 3, 20, 0);
    paths.add(7, 1, 3, middle, 0);
    paths.add(7, 2, 3, 22, 0);
  }
  paths.flush();
  EXPECT_EQ(paths.get(7)->changes, 2U);
  EXPECT_EQ(paths.changes, (std::vector<Change>{{7, 1, 50, 51}, {7, 1, 51, 50}}));
  // A shorter path forgets the hops behind its end.
  paths.add(7, 1, 2, 22, 0);
  paths.add(7, 0, 2, 20, 0);
  paths.flush();
  EXPECT_EQ(paths.get(7)->hops, 2);
  EXPECT_EQ(paths.get(7)->present, 3);
  EXPECT_EQ(paths.get(7)->changes, 3U);
  // A hop behind the end makes the length unknown.
  paths.add(7, 3, 0, 23, 0);
  paths.writer->settle(PathWriter::kPatience, 1, paths.events);
  paths.flush();
  EXPECT_EQ(paths.get(7)->hops, 0);
  EXPECT_EQ(paths.get(7)->present, 11);
}

TEST(Path, MakesRoomForOtherFlows) {
  Paths paths(pathTable(8));
  for (std::uint64_t key = 0; key < 9; ++key) paths.add(key, 0, 2, 20, 0);
  EXPECT_EQ(paths.writer->flows(), 8U);
  paths.flush();
  EXPECT_EQ(paths.get(0)->present, 1) << "the oldest flow was stored as it was";
  EXPECT_FALSE(paths.get(1));
}

TEST(Path, TakesValuesOfTheTablesLength) {
  const Paths paths(pathTable(8));
  for (const std::size_t size : {0, 3, 5, 7, 9, 16, 20}) {
    EXPECT_FALSE(paths.writer->takes(Bytes(size))) << size;
  }
  EXPECT_TRUE(paths.writer->takes(Bytes(4)));
  EXPECT_TRUE(paths.writer->takes(Bytes(8)));
  EXPECT_FALSE(PathWriter::create(test::keyedTable(10), {}));
}

// The same rules on maps, one postcard at a time.
class Model {
 public:
  explicit Model(std::size_t most) : most_(most) {}

  void add(std::uint64_t key, unsigned hop, unsigned hops, unsigned identity, Nanos now) {
    auto flow =
        std::find_if(flows_.begin(), flows_.end(), [&](const Flow& one) { return one.key == key; });
    if (flow != flows_.end() && flow->hop.count(hop) != 0) {
      store(flow);
      flow = flows_.end();
    }
    if (flow == flows_.end()) {
      if (flows_.size() == most_) store(flows_.begin());
      flow = flows_.insert(flows_.end(), Flow{key, 0, now, {}});
    }
    flow->hop[hop] = identity;
    if (hops != 0) flow->hops = hops;
    std::size_t below = 0;
    for (const auto& [number, there] : flow->hop) below += number < flow->hops ? 1 : 0;
    if (flow->hops != 0 && below == flow->hops) store(flow);
  }
  void settle(Nanos now) {
    while (!flows_.empty() && flows_.front().began + 2 * kSecond <= now) store(flows_.begin());
  }
  void restart() { flows_.clear(); }

  struct Known {
    unsigned hops = 0;
    unsigned changes = 0;
    std::map<unsigned, unsigned> hop;
  };
  const std::map<std::uint64_t, Known>& known() const { return known_; }

 private:
  struct Flow {
    std::uint64_t key = 0;
    unsigned hops = 0;
    Nanos began = 0;
    std::map<unsigned, unsigned> hop;
  };
  void store(std::deque<Flow>::iterator flow) {
    Known& known = known_[flow->key];
    for (const auto& [hop, identity] : flow->hop) {
      const auto there = known.hop.find(hop);
      known.changes += there != known.hop.end() && there->second != identity ? 1 : 0;
      known.hop[hop] = identity;
    }
    if (flow->hops != 0) known.hops = flow->hops;
    if (flow->hop.rbegin()->first >= known.hops) known.hops = 0;
    if (known.hops != 0) known.hop.erase(known.hop.lower_bound(known.hops), known.hop.end());
    flows_.erase(flow);
  }

  const std::size_t most_;
  std::deque<Flow> flows_;
  std::map<std::uint64_t, Known> known_;
};

TEST(Path, AgreesWithAModelUnderRandomPostcardsAndRestarts) {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    std::mt19937 random(seed);
    const Table table = pathTable(64, seed % 2 == 0 ? 4 : 16);
    Paths paths(table);
    Model model(64);
    Nanos now = 0;
    for (int step = 0; step < 20'000; ++step) {
      now += static_cast<Nanos>(random() % 40) * kMillisecond;
      const std::uint64_t key = random() % 40;
      // Most postcards are of the key's usual path.
      const unsigned usual = 2 + static_cast<unsigned>(key) % 4;
      const unsigned hops = random() % 5 == 0 ? 0 : random() % 50 == 0 ? 3 : usual;
      const unsigned hop = random() % (hops == 0 ? usual + 1 : hops);
      const unsigned identity = 1 + hop + (random() % 100 == 0 ? 20 : 0);
      paths.add(key, static_cast<std::uint8_t>(hop), static_cast<std::uint8_t>(hops),
                static_cast<std::uint8_t>(identity), now);
      model.add(key, hop, hops, identity, now);
      if (random() % 3 == 0) {
        paths.writer->settle(now, 1, paths.events);
        model.settle(now);
      }
      if (random() % 2000 == 0) {
        paths.flush();
        paths.restart();
        model.restart();
      }
    }
    paths.flush();
    ASSERT_EQ(paths.events.evicted, 0U) << "the model does not know of evictions";
    ASSERT_EQ(model.known().size(), 40U);
    EXPECT_EQ(paths.writer->slots().used(), 40U) << "no key has two slots";
    for (const auto& [key, known] : model.known()) {
      const auto path = paths.get(key);
      ASSERT_TRUE(path) << key;
      EXPECT_EQ(path->hops, known.hops) << key;
      EXPECT_EQ(path->changes, known.changes) << key;
      unsigned present = 0;
      for (const auto& [hop, identity] : known.hop) {
        present |= 1U << hop;
        EXPECT_EQ(path->hop[hop].identity[3], identity) << key << ", hop " << hop;
        EXPECT_EQ(path->hop[hop].rtt_ns, identity * 1000) << key << ", hop " << hop;
      }
      EXPECT_EQ(path->present, present) << key;
    }
  }
}

TEST(TupleKey, IsReadAndWritten) {
  const auto key = parseKey("tuple:10.0.0.1:49152>10.0.1.1:4791/udp");
  ASSERT_TRUE(key) << key.error().text();
  EXPECT_EQ(*key, (Bytes{17, 10, 0, 0, 1, 10, 0, 1, 1, 0xc0, 0, 0x12, 0xb7}));
  EXPECT_EQ(tupleText(*key), "tuple:10.0.0.1:49152>10.0.1.1:4791/udp");
  const auto longer = parseKey("tuple:[fd00::1]:1>[fd00::2]:65535/6");
  ASSERT_TRUE(longer) << longer.error().text();
  EXPECT_EQ(longer->size(), 37U);
  EXPECT_EQ(tupleText(*longer), "tuple:[fd00::1]:1>[fd00::2]:65535/tcp");
  EXPECT_EQ(tupleText(Bytes(12)), "");
  for (const char* text :
       {"tuple:", "tuple:10.0.0.1:1>10.0.0.2:2", "tuple:10.0.0.1:1/udp", "tuple:a:1>10.0.0.2:2/udp",
        "tuple:10.0.0.1:1>[fd00::2]:2/udp", "tuple:10.0.0.1:1>10.0.0.2:2/256",
        "tuple:10.0.0.1:1>10.0.0.2:2/udpx", "tuple:10.0.0.1/10.0.0.2>1"}) {
    EXPECT_FALSE(parseKey(text)) << text;
  }
}

}  // namespace
}  // namespace pingloom::store::path_test
