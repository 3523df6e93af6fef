#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "captured_run.h"
#include "cli/commands.h"
#include "common/time.h"
#include "http/server.h"
#include "store/counter_table.h"
#include "store/key_text.h"
#include "store/keyed_writer.h"
#include "store/list_writer.h"
#include "store/path_writer.h"
#include "store/stamp.h"
#include "store/store_file.h"

namespace pingloom::cli::dta_command_test {
namespace {

using testing::HasSubstr;

constexpr const char* kFound = R"({"table":"latest","key":"text:k","value":"7631",
  "age_seconds":1.5,"written":"2026-01-02T03:04:05Z","translator":"one","stale":false})";
constexpr const char* kStores = R"({"stores":[{"translator":"one","epoch":3,"connected":true,
  "writer":{"stale":true,"age_seconds":4,"key_writes":12},
  "tables":[{"table":"latest","kind":"keyed","slots":100}]}]})";

class DtaCommand : public FilesTest {
 protected:
  // A collector's HTTP side.
  void serve() {
    http::ServerOptions options;
    options.listen = *SocketAddress::parse("127.0.0.1:0");
    server_ = *http::Server::start(options, [](const http::Request& request) -> http::Answer {
      http::Response response;
      response.body = kStores;
      if (request.path == "/api/v1/dta/tables") return response;
      const bool known = request.query.at("table") == "latest";
      if (!known) return http::errorResponse(404, "no store has it");
      response.body = request.query.at("key") == "text:k" ? kFound : R"({"value":null})";
      return response;
    });
    url_ = "http://" + server_->address().text();
  }
  // A store's file with one key, as its collector has left it.
  std::string storeFile() {
    const std::string path = directory_ / "one.store";
    const auto file = std::move(
        *store::StoreFile::open(path, {{store::TableKind::kKeyed, 1, "latest", 100, 8}}, utcNow()));
    const store::Table& table = file->head().tables[0];
    const auto writer = std::move(*store::KeyedWriter::create(
        table, file->region().subspan(table.offset - store::kRegionOffset, table.bytes)));
    const std::vector<std::uint8_t> key = {'k'};
    const std::vector<std::uint8_t> value = {'v', '1'};
    writer->place(key, value, store::stampAt(utcNow(), file->head().made));
    return path;
  }
  // A store's file with entries, counts and a path.
  std::string fullFile() {
    const std::string path = directory_ / "full.store";
    store::TableSpec lists{store::TableKind::kLists, 1, "events", 0, 8, 2, 4};
    store::TableSpec counters{store::TableKind::kCounters, 2, "votes"};
    counters.counters = 10'000;
    store::TableSpec paths{store::TableKind::kPaths, 3, "paths", 10};
    paths.identity_bytes = store::kIpv4Bytes;
    const auto file = std::move(*store::StoreFile::open(path, {lists, counters, paths}, utcNow()));
    const auto memoryOf = [&](std::size_t table) {
      const store::Table& found = file->head().tables[table];
      return file->region().subspan(found.offset - store::kRegionOffset, found.bytes);
    };
    const std::vector<std::uint8_t> key = {'k'};
    const auto votes =
        std::move(*store::CounterWriter::create(file->head().tables[1], memoryOf(1)));
    votes->add(key, 7);
    votes->add(*store::parseKey("u32:9"), 8);
    votes->publishKeys();
    votes->takeDirty([](auto&&...) { return true; });
    const auto flow = *store::parseKey("tuple:10.0.0.1:50000>10.0.0.2:4791/udp");
    store::PathWriter::Events events;
    const auto joined = std::move(*store::PathWriter::create(file->head().tables[2], memoryOf(2)));
    const std::vector<std::uint8_t> hop = {10, 0, 0, 2, 0, 0, 0x27, 0x10};
    joined->add({flow, 1, 2, hop}, 0, store::stampAt(utcNow(), file->head().made), events);
    joined->settle(store::PathWriter::kPatience, 1, events);
    std::vector<std::uint8_t> pool(4 * store::kBlockBytes);
    const auto list = std::move(*store::ListWriter::create(file->head().tables[0], pool));
    list->append(1, std::vector<std::uint8_t>{'o', 'n', 'e'});
    list->append(1, std::vector<std::uint8_t>{1, 2});
    list->takeDirty(store::ListFlush::kAllBlocks,
                    [&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
                      const auto at = offset - store::kRegionOffset;
                      std::copy(bytes.begin(), bytes.end(), file->region().subspan(at).begin());
                      return true;
                    });
    return path;
  }
  std::unique_ptr<http::Server> server_;
  std::string url_;
};

TEST_F(DtaCommand, countPathAndTailReadAFile) {
  const std::string file = fullFile();
  const auto count = capture(runDta, {"count", "votes", "text:k", "--file", file});
  EXPECT_EQ(count.code, 0) << count.err;
  EXPECT_THAT(count.out, HasSubstr("7\n"));
  EXPECT_EQ(capture(runDta, {"count", "votes", "text:x", "--file", file}).code, 1);
  EXPECT_EQ(capture(runDta, {"count", "events", "text:k", "--file", file}).code, 2);
  EXPECT_EQ(capture(runDta, {"count", "votes", "--file", file}).code, 2);

  const auto path = capture(runDta, {"path", "10.0.0.1", "10.0.0.2", "--file", file});
  EXPECT_EQ(path.code, 0) << path.err;
  EXPECT_THAT(path.out, HasSubstr("tuple:10.0.0.1:50000>10.0.0.2:4791/udp\n  partial, 0 changes"));
  EXPECT_THAT(path.out, HasSubstr("   1  *\n   2  10.0.0.2  10.0 us\n"));
  const std::vector<std::string> other = {"path", "10.0.0.1", "10.0.0.2", "--sport",
                                          "1",    "--file",   file};
  EXPECT_EQ(capture(runDta, other).code, 1);
  EXPECT_EQ(capture(runDta, {"path", "10.0.0.1", "x", "--file", file}).code, 2);
  EXPECT_EQ(capture(runDta, {"path", "10.0.0.1", "--file", file}).code, 2);

  const auto tail =
      capture(runDta, {"tail", "events", "1", "--all", "--count", "2", "--file", file});
  EXPECT_EQ(tail.code, 0) << tail.err;
  EXPECT_EQ(tail.out, "full  \"one\"\nfull  0102000000000000\n");
  const auto whole =
      capture(runDta, {"tail", "events", "1", "--all", "--no-follow", "--file", file});
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(whole.out, tail.out);
  EXPECT_EQ(capture(runDta, {"tail", "events", "1", "--no-follow", "--file", file}).out, "");
  const auto empty = capture(runDta, {"tail", "events", "--all", "--no-follow", "--file", file});
  EXPECT_EQ(empty.code, 0) << empty.err;
  EXPECT_EQ(empty.out, "");
  EXPECT_EQ(capture(runDta, {"tail", "events", "2", "--file", file}).code, 2);
  EXPECT_EQ(capture(runDta, {"tail", "votes", "--file", file}).code, 2);
  EXPECT_EQ(capture(runDta, {"tail", "events", "x", "--file", file}).code, 2);
}

TEST_F(DtaCommand, topRanksTheKeysOfAFile) {
  const std::string file = fullFile();
  const auto top = capture(runDta, {"top", "votes", "--file", file});
  EXPECT_EQ(top.code, 0) << top.err;
  EXPECT_THAT(top.out, testing::ContainsRegex("RANK +KEY +COUNT +ERROR\n1 +u32:9 +8 +0\n"
                                              "2 +text:k +7 +0\n"));
  const auto first = capture(runDta, {"top", "votes", "--limit", "1", "--json", "--file", file});
  EXPECT_EQ(nlohmann::json::parse(first.out)["keys"].dump(), R"([{"count":8,"key":"u32:9"}])");
  EXPECT_EQ(capture(runDta, {"top", "events", "--file", file}).code, 2);
  EXPECT_EQ(capture(runDta, {"top", "--file", file}).code, 2);
  for (const char* limit : {"0", "1001", "-1", "x"}) {
    EXPECT_EQ(capture(runDta, {"top", "votes", "--limit", limit, "--file", file}).code, 2) << limit;
  }
}

TEST_F(DtaCommand, getAsksTheCollector) {
  serve();
  const auto run = capture(runDta, {"get", "latest", "text:k", "--url", url_});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("7631  \"v1\"\n"));
  EXPECT_THAT(run.out, HasSubstr("(1.5 s ago) by one\n"));
  const auto absent = capture(runDta, {"get", "latest", "text:x", "--url", url_});
  EXPECT_EQ(absent.code, 1);
  EXPECT_THAT(absent.err, HasSubstr("text:x: is not in table latest"));
  EXPECT_EQ(capture(runDta, {"get", "other", "text:k", "--url", url_}).code, 2);
  const auto json = capture(runDta, {"get", "latest", "text:k", "--json", "--url", url_});
  EXPECT_EQ(nlohmann::json::parse(json.out)["translator"], "one");
}

TEST_F(DtaCommand, getReadsAFileWithoutACollector) {
  const std::string file = storeFile();
  const auto run = capture(runDta, {"get", "latest", "text:k", "--file", file});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("7631000000000000  \"v1\"\n"));
  EXPECT_THAT(run.out, HasSubstr("may be stale"));
  EXPECT_EQ(capture(runDta, {"get", "latest", "hex:00", "--file", file}).code, 1);
  EXPECT_EQ(capture(runDta, {"get", "other", "text:k", "--file", file}).code, 2);
  EXPECT_EQ(capture(runDta, {"get", "latest", "k", "--file", file}).code, 2);
  EXPECT_EQ(capture(runDta, {"get", "latest", "--file", file}).code, 2);
  EXPECT_EQ(capture(runDta, {"get", "latest", "text:k", "--file", file + "x"}).code, 2);
}

TEST_F(DtaCommand, tablesAndStatus) {
  serve();
  const auto tables = capture(runDta, {"tables", "--url", url_});
  EXPECT_EQ(tables.code, 0) << tables.err;
  EXPECT_THAT(tables.out, HasSubstr("latest"));
  const auto status = capture(runDta, {"status", "--url", url_});
  EXPECT_THAT(status.out, HasSubstr("connected"));
  EXPECT_THAT(status.out, HasSubstr("stale"));
  EXPECT_THAT(status.out, HasSubstr("4.0s"));
  const auto alone = capture(runDta, {"status", "--file", storeFile()});
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("never wrote"));
}

TEST_F(DtaCommand, inspectChecksTheFile) {
  const std::string path = storeFile();
  const auto run = capture(runDta, {"inspect", path});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("never wrote"));
  const auto json = nlohmann::json::parse(capture(runDta, {"inspect", path, "--json"}).out);
  EXPECT_EQ(json["tables"][0]["used"], 1);
  std::filesystem::resize_file(path, 8192);
  const auto cut = capture(runDta, {"inspect", path});
  EXPECT_EQ(cut.code, 1);
  EXPECT_THAT(cut.err, HasSubstr("its head says"));
  EXPECT_EQ(capture(runDta, {"inspect", file("no.store", "text")}).code, 1);
  EXPECT_EQ(capture(runDta, {"inspect"}).code, 2);
}

TEST_F(DtaCommand, nobodyThere) {
  const auto run = capture(runDta, {"tables", "--url", "http://127.0.0.1:1"});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("--file"));
  EXPECT_EQ(capture(runDta, {"push"}).code, 2);
}

}  // namespace
}  // namespace pingloom::cli::dta_command_test
