// Intake, shadow and store against a model of maps: random reports whose datagrams are lost,
// doubled and swapped, flushes that fail in the middle, restarts of the translator, sequences and
// rings that wrap, and a stranger who sends what he likes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "plain_domain.h"
#include "store/counter_table.h"
#include "store/keyed_reader.h"
#include "store/list_reader.h"
#include "store/little_endian.h"
#include "store/stamp.h"
#include "store/table_spec.h"
#include "translator/intake.h"
#include "wire/big_endian.h"
#include "wire/report_writer.h"

namespace pingloom::translator::model_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint16_t kKeyed = 1;
constexpr std::uint16_t kLists = 2;
constexpr std::uint16_t kCounters = 3;
constexpr std::uint16_t kMine = 4;  // a table that the stranger may write, and nobody reads
constexpr std::uint32_t kReporter = 7;
constexpr std::uint32_t kStranger = 8;
constexpr Nanos kMade = 1'700'000'000 * kSecond;
constexpr std::uint32_t kKeys = 200;
constexpr std::uint32_t kListCount = 2;
const SocketAddress kFrom{IpAddress::fromV4(0x7f000001), 1234};
const SocketAddress kElsewhere{IpAddress::fromV4(0x0a000001), 1234};

Bytes number(std::uint64_t value) {
  Bytes bytes(8);
  wire::storeBe64(bytes.data(), value);
  return bytes;
}

store::Head layout() {
  store::TableSpec keyed{store::TableKind::kKeyed, kKeyed, "latest", 4 * kKeys, 8};
  store::TableSpec lists{store::TableKind::kLists, kLists, "events", 0, 8, kListCount, 8};
  store::TableSpec counters{store::TableKind::kCounters, kCounters, "votes"};
  counters.counters = 5000;
  store::TableSpec mine{store::TableKind::kKeyed, kMine, "mine", 64, 8};
  return *store::layOut({keyed, lists, counters, mine}, kMade);
}

ReporterSpecs specs() {
  ReporterSpec reporter;
  reporter.id = kReporter;
  ReporterSpec stranger;
  stranger.id = kStranger;
  stranger.tables = {"mine"};
  return {reporter, stranger};
}

// A report, and what the model has to do when it is accepted.
struct Made {
  wire::ReportOperation operation = wire::ReportOperation::kKeyWrite;
  std::uint64_t key = 0;  // or the list
  std::uint64_t value = 0;
};

// What is in the store is at least `durable` and at most `accepted`.
struct Model {
  struct Range {
    std::uint64_t durable = 0;
    std::uint64_t accepted = 0;
  };
  std::map<std::uint64_t, Range> latest;  // the version of each key; they ascend
  std::map<std::uint64_t, Range> counts;
  std::array<std::uint64_t, kListCount> appended{};
  std::array<std::uint64_t, kListCount> last_durable{};  // the greatest entry that is in the store

  void accept(const Made& report) {
    if (report.operation == wire::ReportOperation::kKeyWrite) {
      latest[report.key].accepted = report.value;
    } else if (report.operation == wire::ReportOperation::kKeyIncrement) {
      counts[report.key].accepted += report.value;
    } else {
      appended[report.key] = report.value;
    }
  }
  void settle() {
    for (auto* ranges : {&latest, &counts}) {
      for (auto& [key, range] : *ranges) range.durable = range.accepted;
    }
    last_durable = appended;
  }
};

class Follower {
 public:
  void read(const store::Table& table, const Bytes& file, std::uint32_t list) {
    const auto memory = std::span(file).subspan(table.offset, table.bytes);
    const auto tail = store::readTail(table, memory, list, at_, SIZE_MAX, [&](auto entry) {
      const std::uint64_t value = wire::loadBe64(entry.data());
      EXPECT_GT(value, last) << "entries are in their order, and each is there once";
      last = value;
      ++got;
    });
    at_ = tail.next;
    lost += tail.lost;
  }
  std::uint64_t last = 0;
  std::uint64_t got = 0;
  std::uint64_t lost = 0;

 private:
  store::ListCursor at_;
};

class World {
 public:
  explicit World(unsigned seed) : random_(seed), head_(layout()), file_(head_.bytes) { start(); }

  void step() {
    now_ += static_cast<Nanos>(random_() % 20) * kMillisecond;
    report();
    if (random_() % 4 == 0) stranger();
    if (random_() % 8 == 0) flush(random_() % 4 == 0);
    if (random_() % 200 == 0) restart();
    if (random_() % 16 == 0) {
      for (std::uint32_t list = 0; list < kListCount; ++list) {
        followers_[list].read(table(kLists), file_, list);
      }
    }
  }

  void check() {
    flush(false);
    model_.settle();
    for (const auto& [key, range] : model_.latest) {
      const auto found = store::findKey(table(kKeyed), memory(kKeyed), number(key));
      ASSERT_TRUE(found) << key;
      EXPECT_EQ(wire::loadBe64(found->bytes().data()), range.accepted) << key;
    }
    std::uint64_t sum = adopted_;
    for (const auto& [key, range] : model_.counts) {
      sum += range.accepted;
      EXPECT_GE(store::countKey(table(kCounters), memory(kCounters), number(key)), range.accepted);
    }
    EXPECT_EQ(totalOf(), sum);
    for (std::uint32_t list = 0; list < kListCount; ++list) {
      followers_[list].read(table(kLists), file_, list);
      EXPECT_EQ(followers_[list].last, model_.appended[list]) << "the newest entry is read";
    }
    EXPECT_EQ(counters_.dropped, 0U);
    EXPECT_EQ(counters_.evicted, 0U) << "the keys have room";
    EXPECT_GT(restarts_, 3);
    EXPECT_GT(failures_, 3);
  }

 private:
  std::uint64_t accepted() const {
    return std::accumulate(counters_.accepted.begin(), counters_.accepted.end(), std::uint64_t{0});
  }
  const store::Table& table(std::uint16_t id) const { return head_.tables[id - 1]; }
  std::span<const std::uint8_t> memory(std::uint16_t id) const {
    return std::span(file_).subspan(table(id).offset, table(id).bytes);
  }
  std::uint64_t totalOf() const {
    std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < table(kCounters).units; ++i) {
      total += store::getLittle<std::uint64_t>(memory(kCounters), i * store::kCounterBytes);
    }
    return total;
  }

  Made random() {
    switch (random_() % 3) {
      case 0:
        return {wire::ReportOperation::kKeyWrite, random_() % kKeys, ++version_};
      case 1:
        return {wire::ReportOperation::kKeyIncrement, random_() % kKeys, 1 + random_() % 1000};
      default:
        return {wire::ReportOperation::kAppend, random_() % kListCount, ++version_};
    }
  }

  Bytes datagram(const std::vector<Made>& reports) {
    Bytes buffer(wire::kMaxReportDatagram);
    wire::ReportWriter writer(buffer);
    writer.clear();
    for (const Made& made : reports) {
      Bytes key = number(made.key);
      const Bytes value = number(made.value);
      wire::ReportItem item;
      item.operation = made.operation;
      item.table = static_cast<std::uint16_t>(
          made.operation == wire::ReportOperation::kKeyWrite ? kKeyed
          : made.operation == wire::ReportOperation::kAppend ? kLists
                                                             : kCounters);
      item.key = key;
      if (made.operation == wire::ReportOperation::kAppend) item.key = std::span(key).last(4);
      item.value = value;
      writer.add(item);
    }
    wire::ReportHead head;
    head.reporter = kReporter;
    head.incarnation = 1;
    head.sequence = sequence_++;
    buffer.resize(writer.finish(head).size());
    return buffer;
  }

  // Delivers a datagram once, twice, or never.
  void report() {
    std::vector<Made> reports(1 + random_() % 20);
    for (Made& made : reports) made = random();
    const Bytes bytes = datagram(reports);
    if (random_() % 10 == 0) return;
    const std::uint64_t before = accepted();
    take(bytes, kFrom);
    EXPECT_EQ(accepted(), before + reports.size());
    for (const Made& made : reports) model_.accept(made);
    if (random_() % 5 == 0) take(bytes, kFrom);
    if (random_() % 10 == 0) take(sent_, kFrom);
    EXPECT_EQ(accepted(), before + reports.size()) << "none counts twice";
    sent_ = bytes;
  }

  // The stranger may write a table of his own, and nothing else, under whichever number.
  void stranger() {
    Bytes bytes(wire::kMaxReportDatagram);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
    const std::uint64_t before = accepted();
    if (random_() % 2 == 0) {
      bytes.resize(random_() % bytes.size());
      take(bytes, kFrom);
    } else {
      Bytes forged = datagram({random()});
      --sequence_;
      const bool as_himself = random_() % 2 == 0;
      if (as_himself) wire::storeBe32(forged.data() + 8, kStranger);
      wire::storeBe32(forged.data() + wire::kReportSequenceOffset,
                      static_cast<std::uint32_t>(random_()));
      take(forged, as_himself ? kFrom : kElsewhere);
    }
    EXPECT_EQ(accepted(), before);
  }

  void take(const Bytes& bytes, const SocketAddress& from) {
    intake_->take(bytes, from, *shadow_, now_, kMade + now_);
  }

  // Carries out what has changed. If it fails, it does so behind any piece, and what was carried
  // out last is not confirmed.
  void flush(bool fails) {
    struct Sent {
      Piece piece;
      Bytes bytes;
    };
    std::vector<Sent> sent;
    for (const auto what :
         {ShadowTable::Take::kListBlocks, ShadowTable::Take::kBlocks, ShadowTable::Take::kSlots}) {
      shadow_->take(what, [&](const Piece& piece) {
        sent.push_back({piece, Bytes(piece.bytes.begin(), piece.bytes.end())});
        return true;
      });
    }
    const std::size_t done = fails ? random_() % (sent.size() + 1) : sent.size();
    const std::size_t confirmed = fails ? random_() % (done + 1) : done;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      const auto& [piece, bytes] = sent[i];
      if (i < done) std::ranges::copy(bytes, file_.begin() + static_cast<long>(piece.offset));
      ShadowTable& table = *shadow_->tables()[piece.table];
      if (i < confirmed) {
        table.arrived(piece.bytes);
      } else {
        table.failed(piece);
      }
    }
    failures_ += fails ? 1 : 0;
    if (!fails) model_.settle();
  }

  // The translator dies, perhaps while it flushes, and another one goes on with what is in the
  // store.
  void restart() {
    ++restarts_;
    if (random_() % 2 == 0) flush(true);
    now_ += kSecond;
    start();
    for (auto& [key, range] : model_.latest) {
      const auto found = store::findKey(table(kKeyed), memory(kKeyed), number(key));
      const std::uint64_t version = found ? wire::loadBe64(found->bytes().data()) : 0;
      EXPECT_GE(version, range.durable) << key;
      EXPECT_LE(version, range.accepted) << key;
      range = {version, version};
    }
    std::erase_if(model_.latest, [](const auto& entry) { return entry.second.accepted == 0; });
    adoptCounts();
    for (std::uint32_t list = 0; list < kListCount; ++list) {
      followers_[list].read(table(kLists), file_, list);
      EXPECT_GE(followers_[list].last, model_.last_durable[list]);
      model_.appended[list] = followers_[list].last;
    }
  }

  // A count lies between what was written and what was accepted, give or take other keys; the sum
  // of a row does so exactly, and from now on it is what counts.
  void adoptCounts() {
    std::uint64_t durable = adopted_;
    std::uint64_t most = adopted_;
    for (const auto& [key, range] : model_.counts) {
      durable += range.durable;
      most += range.accepted;
      EXPECT_GE(store::countKey(table(kCounters), memory(kCounters), number(key)), range.durable);
    }
    const std::uint64_t total = totalOf();
    EXPECT_GE(total, durable);
    EXPECT_LE(total, most);
    model_.counts.clear();
    adopted_ = total;
  }

  void start() {
    shadow_ = std::move(*Shadow::create(head_, domain_));
    for (const auto& table : shadow_->tables()) {
      const store::Table& about = table->table();
      for (std::uint64_t at = 0; at < about.bytes;) {
        const auto room = table->room(at, 64 * 1024);
        std::copy_n(file_.begin() + static_cast<long>(about.offset + at), room.size(),
                    room.begin());
        table->took(at, room);
        at += room.size();
      }
      table->endRestore();
    }
    intake_ = std::make_unique<Intake>(counters_, 4U << 20);
    intake_->setRules(std::make_unique<ReporterRules>(specs()));
    sent_.clear();
  }

  std::mt19937 random_;
  const store::Head head_;
  Bytes file_;
  PlainDomain domain_;
  Counters counters_;
  std::unique_ptr<Shadow> shadow_;
  std::unique_ptr<Intake> intake_;
  Model model_;
  std::array<Follower, kListCount> followers_;
  std::uint64_t adopted_ = 0;  // what earlier translators have counted
  std::uint64_t version_ = 0;
  std::uint32_t sequence_ = 0xffff'ff00;  // it wraps soon
  Bytes sent_;
  Nanos now_ = 0;
  int restarts_ = 0;
  int failures_ = 0;
};

class AgainstTheModel : public testing::TestWithParam<unsigned> {};

TEST_P(AgainstTheModel, EveryAnswerIsRight) {
  World world(GetParam());
  for (int step = 0; step < 2000 && !testing::Test::HasFailure(); ++step) world.step();
  world.check();
}

INSTANTIATE_TEST_SUITE_P(Seeds, AgainstTheModel, testing::Range(1U, 9U));

}  // namespace
}  // namespace pingloom::translator::model_test
