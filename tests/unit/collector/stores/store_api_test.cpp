#include "collector/stores/store_api.h"

#include <fcntl.h>

#include <future>
#include <nlohmann/json.hpp>

#include "../../common/temporary_directory.h"
#include "collector/stores/store_metrics.h"
#include "common/fd.h"
#include "common/metrics_text.h"
#include "store/counter_table.h"
#include "store/keyed_writer.h"
#include "store/list_writer.h"
#include "store/stamp.h"
#include "store/store_file.h"
#include "translator_stub.h"

namespace pingloom::collector::store_api_test {
namespace {

using testing::HasSubstr;

constexpr Nanos kNow = 1'800'000'000 * kSecond;

class StoreApiTest : public testing::Test {
 protected:
  // Stores a value in a file, before the service opens it.
  void fill(const std::string& name, std::string_view key, std::string_view value, Nanos utc) {
    StoreSpec spec;
    spec.translator = name;
    spec.file = directory / (name + ".store");
    spec.tables = {{store::TableKind::kKeyed, 1, "latest", 100, 8}};
    const auto file = std::move(*store::StoreFile::open(spec.file, spec.tables, kNow - kHour));
    const store::Table& table = file->head().tables[0];
    const auto content = file->region().subspan(table.offset - store::kRegionOffset, table.bytes);
    const auto writer = std::move(*store::KeyedWriter::create(table, content));
    const std::vector<std::uint8_t> key_bytes(key.begin(), key.end());
    const std::vector<std::uint8_t> value_bytes(value.begin(), value.end());
    writer->place(key_bytes, value_bytes, store::stampAt(utc, file->head().made));
    specs.push_back(spec);
  }
  // A store with the lists "events" and the counters "votes", which are written as a translator
  // would while the service runs.
  struct Written {
    store::Head head;
    std::vector<std::uint8_t> lists, counters;  // what the writers have
    std::unique_ptr<store::ListWriter> events;
    std::unique_ptr<store::CounterWriter> votes;
    store::Mapping mapping;

    void flush() {
      const auto copy = [&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
        std::copy(bytes.begin(), bytes.end(),
                  mapping.memory().begin() + static_cast<std::ptrdiff_t>(offset));
        return true;
      };
      events->takeDirty(store::ListFlush::kAllBlocks,
                        [&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
                          copy(offset, bytes);
                          events->arrived(bytes);
                          return true;
                        });
      votes->publishKeys();
      votes->takeDirty(copy);
      store::WriterStatus status;
      status.utc = kNow;
      status.tables[1].total = votes->total();
      copy(store::kStatusOffset, store::encodeStatus(status));
    }
    void append(std::uint32_t list, std::string_view entry) {
      EXPECT_TRUE(events->append(list, std::vector<std::uint8_t>(entry.begin(), entry.end())));
      flush();
    }
    void count(std::string_view key, std::uint64_t amount) {
      votes->add(std::vector<std::uint8_t>(key.begin(), key.end()), amount);
      flush();
    }
  };
  Written write(const std::string& name) {
    StoreSpec spec;
    spec.translator = name;
    spec.file = directory / (name + ".store");
    store::TableSpec lists{store::TableKind::kLists, 1, "events", 0, 8};
    lists.lists = 2;
    lists.blocks = 4;
    store::TableSpec counters{store::TableKind::kCounters, 2, "votes"};
    counters.counters = 1000;
    spec.tables = {lists, counters};
    Written made;
    made.head = (*store::StoreFile::open(spec.file, spec.tables, kNow - kHour))->head();
    made.lists.resize(std::size_t{128} * store::kBlockBytes);
    made.counters.resize(made.head.tables[1].bytes);
    made.events = std::move(*store::ListWriter::create(made.head.tables[0], made.lists));
    made.votes = std::move(*store::CounterWriter::create(made.head.tables[1], made.counters));
    const UniqueFd fd(::open(spec.file.c_str(), O_RDWR | O_CLOEXEC));
    made.mapping =
        std::move(*store::Mapping::of(fd.get(), made.head.bytes, store::MapFor::kWriting, "test"));
    spec.watched = {{"votes", "text:link", {'l', 'i', 'n', 'k'}}};
    specs.push_back(spec);
    return made;
  }
  void start() {
    auto started = StoreService::start(specs, {IpAddress::fromV4(0x7F000001), 0},
                                       stub::freshStoreDevice(), std::nullopt);
    ASSERT_TRUE(started) << started.error().text();
    service = std::move(*started);
  }
  // Waits for a later answer.
  http::Response answerOf(const http::Request& request) {
    auto answer = answerStores(service.get(), request, kNow);
    if (auto* now = std::get_if<http::Response>(&answer)) return std::move(*now);
    std::promise<http::Response> promise;
    std::get<http::Later>(answer)(
        [&](http::Response response) { promise.set_value(std::move(response)); });
    return promise.get_future().get();
  }
  nlohmann::json ask(const std::string& path, std::map<std::string, std::string> query = {},
                     unsigned status = 200) {
    http::Request request;
    request.method = "GET";
    request.path = path;
    request.query = std::move(query);
    const auto response = answerOf(request);
    EXPECT_EQ(response.status, status) << response.body;
    return nlohmann::json::parse(response.body);
  }
  nlohmann::json get(const std::string& table, const std::string& key, unsigned status = 200) {
    return ask("/api/v1/dta/get", {{"table", table}, {"key", key}}, status);
  }

  pingloom::test::TemporaryDirectory directory;
  StoreSpecs specs;
  std::unique_ptr<StoreService> service;
};

TEST_F(StoreApiTest, TheLaterValueOfAllStoresIsGiven) {
  fill("one", "k", "old", kNow - 20 * kSecond);
  fill("two", "k", "new", kNow - 2 * kSecond);
  start();
  const auto found = get("latest", "text:k");
  EXPECT_EQ(found["value"], "6e65770000000000");
  EXPECT_EQ(found["translator"], "two");
  EXPECT_NEAR(found["age_seconds"].get<double>(), 2.0, 0.0001);
  EXPECT_EQ(found["written"], formatUtc(kNow - 2 * kSecond));
  EXPECT_EQ(found["stale"], true);  // no writer is there
  EXPECT_TRUE(get("latest", "hex:00")["value"].is_null());
}

TEST_F(StoreApiTest, TablesAndTheirWriterAreShown) {
  fill("one", "k", "v", kNow);
  start();
  const auto shown = ask("/api/v1/dta/tables")["stores"];
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0]["translator"], "one");
  EXPECT_EQ(shown[0]["connected"], false);
  EXPECT_EQ(shown[0]["serving"], true);
  EXPECT_TRUE(shown[0]["writer"].is_null());
  EXPECT_EQ(shown[0]["tables"][0]["table"], "latest");
  EXPECT_EQ(shown[0]["tables"][0]["slots"], 100);
}

TEST_F(StoreApiTest, ListsOfAllStoresAreFollowed) {
  auto one = write("one");
  auto two = write("two");
  start();
  const auto tail = [&](const std::string& cursor, const std::string& wait = "") {
    std::map<std::string, std::string> query = {{"table", "events"}, {"list", "1"}};
    query["cursor"] = cursor;
    if (!wait.empty()) query["wait"] = wait;
    return ask("/api/v1/dta/tail", query);
  };
  EXPECT_TRUE(tail("")["entries"].empty());
  one.append(1, "a");
  one.append(0, "other");
  two.append(1, "b");
  auto seen = tail("");
  ASSERT_EQ(seen["entries"].size(), 2U);
  EXPECT_EQ(seen["entries"][0]["entry"], "6100000000000000");
  EXPECT_EQ(seen["entries"][0]["translator"], "one");
  EXPECT_EQ(seen["entries"][1]["translator"], "two");
  EXPECT_EQ(seen["lost"], 0);
  EXPECT_EQ(tail("end")["cursor"], seen["cursor"]);
  // Somebody waits, and is answered when an entry comes or when the time is over.
  EXPECT_TRUE(tail(seen["cursor"], "1ms")["entries"].empty());
  std::thread writer([&] { two.append(1, "c"); });
  const auto later = tail(seen["cursor"], "10s");
  writer.join();
  ASSERT_EQ(later["entries"].size(), 1U);
  EXPECT_EQ(later["entries"][0]["entry"], "6300000000000000");
  // A reader that is too slow is told what it has lost: all of the first block but one entry.
  for (int i = 0; i < 700; ++i) one.append(1, "x");
  seen = tail(seen["cursor"]);
  EXPECT_GE(seen["lost"].get<std::uint64_t>() + seen["entries"].size(), 701U);
  EXPECT_GT(seen["lost"], 0);
}

TEST_F(StoreApiTest, ManyEntriesNeedSeveralAnswers) {
  auto one = write("one");
  auto two = write("two");
  start();
  for (int i = 0; i < 300; ++i) one.append(0, std::to_string(i));
  two.append(0, "two");
  std::string cursor;
  std::size_t got = 0;
  for (int answers = 0; answers < 3; ++answers) {
    const auto tail = ask("/api/v1/dta/tail", {{"table", "events"}, {"cursor", cursor}});
    EXPECT_LE(tail["entries"].size(), kMaxTailEntries);
    got += tail["entries"].size();
    cursor = tail["cursor"];
  }
  EXPECT_EQ(got, 301U);
}

TEST_F(StoreApiTest, AStopAnswersThoseWhoWait) {
  auto one = write("one");
  start();
  std::promise<http::Response> promise;
  service->tails().ask({"events", 0, {}}, kNever,
                       [&](http::Response response) { promise.set_value(std::move(response)); });
  service->tails().stop();
  EXPECT_EQ(promise.get_future().get().status, 200U);
  EXPECT_TRUE(ask("/api/v1/dta/tail", {{"table", "events"}, {"wait", "10s"}})["entries"].empty());
}

TEST_F(StoreApiTest, TooManyWaitersAreRefused) {
  auto one = write("one");
  start();
  std::mutex mutex;
  std::map<unsigned, std::size_t> statuses;
  for (std::size_t i = 0; i < TailWaiter::kMaxWaiting + 3; ++i) {
    service->tails().ask({"events", 0, {}}, kNever, [&](const http::Response& response) {
      const std::lock_guard lock(mutex);
      ++statuses[response.status];
    });
  }
  service->tails().stop();
  EXPECT_EQ(statuses[200], TailWaiter::kMaxWaiting);
  EXPECT_EQ(statuses[503], 3U);
}

TEST_F(StoreApiTest, CountsOfAllStoresAreAdded) {
  auto one = write("one");
  auto two = write("two");
  start();
  one.count("link", 5);
  two.count("link", 7);
  two.count("other", 100);
  const auto counted = ask("/api/v1/dta/count", {{"table", "votes"}, {"key", "text:link"}});
  EXPECT_EQ(counted["count"], 12);
  EXPECT_EQ(counted["stores"], 2);
  EXPECT_EQ(counted["stale"], false);
  EXPECT_NEAR(counted["error"].get<double>(), 2.71828 * 112 / 1000, 1e-5);
  EXPECT_EQ(ask("/api/v1/dta/count", {{"table", "votes"}, {"key", "text:x"}})["count"], 0);
  const auto table = ask("/api/v1/dta/tables")["stores"][1]["tables"][1];
  EXPECT_EQ(table["increments"], 107);
  EXPECT_EQ(table["counters"], 1000);
}

TEST_F(StoreApiTest, TheMostCountedKeysOfAllStoresAreRanked) {
  auto one = write("one");
  auto two = write("two");
  start();
  const auto top = [&](std::map<std::string, std::string> query, unsigned status = 200) {
    query.emplace("table", "votes");
    return ask("/api/v1/dta/top", std::move(query), status);
  };
  EXPECT_TRUE(top({})["keys"].empty());
  one.count("link", 5);
  two.count("link", 7);
  two.count("other", 10);
  one.count(std::string_view("\0\0\1\0", 4), 11);
  const auto all = top({});
  const nlohmann::json expected = {{{"key", "text:link"}, {"count", 12}},
                                   {{"key", "u32:256"}, {"count", 11}},
                                   {{"key", "text:other"}, {"count", 10}}};
  EXPECT_EQ(all["keys"], expected);
  EXPECT_EQ(all["table"], "votes");
  EXPECT_EQ(all["stores"], 2);
  EXPECT_EQ(all["stale"], false);
  EXPECT_NEAR(all["error"].get<double>(), 2.71828 * 33 / 1000, 1e-5);
  for (int i = 0; i < 30; ++i) one.count("key " + std::to_string(i), 20);
  EXPECT_EQ(top({})["keys"].size(), 20U);
  EXPECT_EQ(top({{"limit", "1000"}})["keys"].size(), 33U);
  EXPECT_EQ(top({{"limit", "1"}})["keys"].size(), 1U);
  for (const char* limit : {"0", "1001", "-1", "", "x"}) top({{"limit", limit}}, 400);
  top({{"key", "text:link"}}, 400);
  ask("/api/v1/dta/top", {}, 400);
  ask("/api/v1/dta/top", {{"table", "events"}}, 404);
}

TEST_F(StoreApiTest, MetricsShowTablesAndWatchedKeys) {
  auto one = write("one");
  fill("two", "k", std::string("\0\0\0\0\0\0\1\2", 8), kNow - 2 * kSecond);
  specs.back().watched = {{"latest", "text:k", {'k'}}, {"latest", "text:absent", {'a'}}};
  start();
  one.count("link", 5);
  MetricsText out;
  storeMetrics(out, *service, kNow + 3 * kSecond);
  const std::string text = out.text();
  for (const char* line :
       {"pingloom_collector_store_connected{translator=\"one\"} 0\n",
        "pingloom_collector_store_writer_age_seconds{translator=\"one\"} 3\n",
        "pingloom_collector_store_placed_total{translator=\"one\",table=\"votes\"} 5\n",
        "pingloom_collector_store_dropped_total{translator=\"one\",table=\"events\"} 0\n",
        "store_count_total{translator=\"one\",table=\"votes\",key=\"text:link\"} 5\n",
        "store_value{translator=\"two\",table=\"latest\",key=\"text:k\"} 258\n",
        "store_value_age_seconds{translator=\"two\",table=\"latest\",key=\"text:k\"} 5\n",
        "pingloom_collector_store_requests_refused_total{reason=\"unknown\"} 0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_EQ(text.find("text:absent"), std::string::npos);
}

TEST_F(StoreApiTest, QuestionsAboutListsAreChecked) {
  auto one = write("one");
  start();
  const auto tail = [&](std::map<std::string, std::string> query, unsigned status) {
    ask("/api/v1/dta/tail", std::move(query), status);
  };
  tail({{"table", "events"}}, 200);
  tail({}, 400);
  tail({{"table", "votes"}}, 404);
  tail({{"table", "events"}, {"list", "2"}}, 404);
  tail({{"table", "events"}, {"list", "x"}}, 400);
  tail({{"table", "events"}, {"list", "65536"}}, 400);
  tail({{"table", "events"}, {"wait", "11s"}}, 400);
  tail({{"table", "events"}, {"wait", "1"}}, 400);
  for (const char* cursor : {"x", "1", "1-1", "1-0-1", "1-1-10000", "1-1-1..", "1-1-1-1", "-1-1-1",
                             "10000000000000000-1-1", "1-8000000000000000-1"}) {
    tail({{"table", "events"}, {"cursor", cursor}}, 400);
  }
  tail({{"table", "events"}, {"cursor", "1-1-1.ffffffffffffffff-7fffffffffffffff-ffff"}}, 200);
  ask("/api/v1/dta/count", {{"table", "events"}, {"key", "text:x"}}, 404);
  ask("/api/v1/dta/count", {{"table", "votes"}, {"key", "x"}}, 400);
}

TEST_F(StoreApiTest, QuestionsThatCannotBeAnsweredAreRefused) {
  ask("/api/v1/dta/tables", {}, 404);  // no stores are configured
  fill("one", "k", "v", kNow);
  start();
  get("other", "text:k", 404);
  EXPECT_THAT(get("latest", "k", 400).dump(), HasSubstr("text:TEXT"));
  get("latest", "hex:0", 400);
  get("latest", "hex:0g", 400);
  get("latest", "u32:4294967296", 400);
  get("latest", "text:", 400);
  get("latest", "text:" + std::string(41, 'k'), 400);
  ask("/api/v1/dta/get", {}, 400);
  ask("/api/v1/dta/get", {{"table", "latest"}, {"key", "text:k"}, {"x", "1"}}, 400);
  ask("/api/v1/dta/what", {}, 404);
}

}  // namespace
}  // namespace pingloom::collector::store_api_test
