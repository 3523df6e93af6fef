#include "collector/stores/store_api.h"

#include <nlohmann/json.hpp>

#include "../../common/temporary_directory.h"
#include "store/keyed_writer.h"
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
  void start() {
    auto started = StoreService::start(specs, {IpAddress::fromV4(0x7F000001), 0},
                                       stub::freshStoreDevice(), std::nullopt);
    ASSERT_TRUE(started) << started.error().text();
    service = std::move(*started);
  }
  nlohmann::json ask(const std::string& path, std::map<std::string, std::string> query = {},
                     unsigned status = 200) {
    http::Request request;
    request.method = "GET";
    request.path = path;
    request.query = std::move(query);
    const auto response = answerStores(service.get(), request, kNow);
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
