#include "collector/config.h"

namespace pingloom::collector::store_config_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kAddress = "address: 10.0.0.9\n";

std::string error(const std::string& stores) {
  const auto config = parseConfig(kAddress + stores, "c.yaml");
  return config ? "" : config.error().text();
}

std::string table(const std::string& text) {
  return error("stores: [{ translator: one, tables: [" + text + "] }]\n");
}

TEST(StoreConfig, ReadsEveryKey) {
  const auto config = parseConfig(
      kAddress +
          "stores_port: 9\n"
          "stores:\n"
          "  - translator: one\n"
          "    tables: [{ name: latest, id: 7, kind: keyed, slots: 1000, value: 24B }]\n"
          "  - { translator: two, file: a/b, tables: [{ name: t, id: 1, kind: keyed, slots: 1, "
          "value: 120 }] }\n",
      "/etc/c.yaml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->stores_port, 9);
  ASSERT_EQ(config->stores.size(), 2U);
  EXPECT_EQ(config->stores[0].file, "/dev/shm/pingloom/one.store");
  EXPECT_EQ(config->stores[0].tables[0],
            (store::TableSpec{store::TableKind::kKeyed, 7, "latest", 1000, 24}));
  EXPECT_EQ(config->stores[1].file, "/etc/a/b");
}

TEST(StoreConfig, ReadsListsAndCounters) {
  const auto config = parseConfig(
      kAddress +
          "stores: [{ translator: one, tables: [\n"
          "  { name: events, id: 1, kind: lists, lists: 3, blocks: 100, entry: 24B },\n"
          "  { name: single, id: 2, kind: lists, blocks: 4, entry: 240 },\n"
          "  { name: votes, id: 3, kind: counters, counters: 1000, watch: [u32:7, text:x] },\n"
          "  { name: state, id: 4, kind: keyed, slots: 10, value: 8, watch: [text:y] }] }]\n",
      "c.yaml");
  ASSERT_TRUE(config) << config.error().text();
  const StoreSpec& store = config->stores[0];
  EXPECT_EQ(store.tables[0].lists, 3U);
  EXPECT_EQ(store.tables[0].blocks, 100U);
  EXPECT_EQ(store.tables[0].value_bytes, 24U);
  EXPECT_EQ(store.tables[1].lists, 1U);
  EXPECT_EQ(store.tables[2].counters, 1000U);
  ASSERT_EQ(store.watched.size(), 3U);
  EXPECT_EQ(store.watched[0].table, "votes");
  EXPECT_EQ(store.watched[0].text, "u32:7");
  EXPECT_EQ(store.watched[0].bytes, (std::vector<std::uint8_t>{0, 0, 0, 7}));
  EXPECT_EQ(store.watched[2].table, "state");
}

TEST(StoreConfig, SaysWhatIsWrongWithListsAndCounters) {
  EXPECT_THAT(table("{ name: t, id: 1, kind: lists, blocks: 3, entry: 8 }"), HasSubstr("4"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: lists, blocks: 4, entry: 241 }"), HasSubstr("240"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: lists, blocks: 4 }"), HasSubstr("entry: BYTES"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: lists, lists: 65537, blocks: 4, entry: 8 }"),
              HasSubstr("65536"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: lists, lists: 65536, blocks: 4, entry: 8 },"
                    "{ name: u, id: 2, kind: lists, blocks: 4, entry: 8 }"),
              HasSubstr("more than 65536 lists"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: counters }"), HasSubstr("counters: NUMBER"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: counters, counters: 9, slots: 1 }"),
              HasSubstr("have no 'slots'"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: keyed, slots: 1, value: 8, entry: 8 }"),
              HasSubstr("have no 'entry'"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: keyed, slots: 1, value: 9, watch: [text:a] }"),
              HasSubstr("8 bytes or less"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: counters, counters: 9, watch: [a] }"),
              HasSubstr("text:TEXT"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: counters, counters: 9, watch: [u32:1, u32:1] }"),
              HasSubstr("twice"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: lists, blocks: 4, entry: 8, watch: [u32:1] }"),
              HasSubstr("have no 'watch'"));
}

TEST(StoreConfig, SaysWhatIsWrong) {
  const std::string good = "{ name: t, id: 1, kind: keyed, slots: 10, value: 8 }";
  EXPECT_EQ(table(good), "");
  EXPECT_THAT(table(""), HasSubstr("1 to 31 tables"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: keyed, slots: 10 }"), HasSubstr("value: BYTES"));
  EXPECT_EQ(table("{ name: t, id: 1, kind: keyed, slots: 1, value: 8, copies: 4 }"), "");
  EXPECT_THAT(table("{ name: t, id: 1, kind: keyed, slots: 1, value: 8, copies: 5 }"),
              HasSubstr("4"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: counters, counters: 9, copies: 2 }"),
              HasSubstr("have no 'copies'"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: stack, slots: 1, value: 8 }"),
              HasSubstr("a kind is one of: keyed"));
  EXPECT_THAT(table("{ name: T, id: 1, kind: keyed, slots: 1, value: 8 }"), HasSubstr("a-z"));
  EXPECT_THAT(table("{ name: t, id: 0, kind: keyed, slots: 1, value: 8 }"), HasSubstr("c.yaml:2"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: keyed, slots: 1, value: 121 }"), HasSubstr("120"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: keyed, slot: 1 }"), HasSubstr("slots"));
  EXPECT_THAT(error("stores: []\n"), HasSubstr("1 to 64 stores"));
  EXPECT_THAT(error("stores: [{ translator: one }]\n"), HasSubstr("tables"));
  EXPECT_THAT(error("stores: [{ translator: a/b, tables: [" + good + "] }]\n"), HasSubstr("a-z"));
  EXPECT_THAT(error("stores: [{ translator: a, tables: [" + good +
                    "] }, { translator: a, tables: [" + good + "] }]\n"),
              HasSubstr("twice"));
  EXPECT_THAT(error("keys: { secret: x }\nstores: [{ translator: a, tables: [" + good + "] }]\n"),
              HasSubstr("store a has no key"));
}

TEST(StoreConfig, TablesThatAreTheSameAreBothNamed) {
  const auto tables = [](const char* second) {
    return error(
        "stores:\n  - translator: a\n    tables:\n"
        "      - { name: t, id: 1, kind: keyed, slots: 10, value: 8 }\n"
        "      - { name: v, id: 3, kind: counters, counters: 10 }\n" +
        std::string(second));
  };
  EXPECT_THAT(tables("      - { name: u, id: 1, kind: keyed, slots: 10, value: 8 }\n"),
              AllOf(HasSubstr("c.yaml:7:"), HasSubstr("table 't' has the same id, at c.yaml:5:")));
  EXPECT_THAT(
      tables("      - { id: 2, name: v, kind: keyed, slots: 10, value: 8 }\n"),
      AllOf(HasSubstr("c.yaml:7:"), HasSubstr("table 'v' has the same name, at c.yaml:6:")));
}

TEST(StoreConfig, AStoreIsShared) {
  const std::string counters = "[{ name: v, id: 1, kind: counters, counters: 9 }]";
  const auto read = parseConfig(
      "address: 10.0.0.1\nstores: [{ translator: votes, shared: true, tables: " + counters +
          " }]\n",
      "c.yaml");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(read->stores.front().shared);
  EXPECT_TRUE(read->stores.front().tables.front().shared);
  EXPECT_THAT(
      error("stores: [{ translator: a, shared: true, tables: [{ name: t, id: 1, kind: keyed, "
            "slots: 1, value: 8 }] }]\n"),
      HasSubstr("tables of counters only"));
  const std::string key(40, 'a');
  EXPECT_THAT(
      error("stores: [{ translator: a, writers: ['" + key + "'], tables: " + counters + " }]\n"),
      HasSubstr("key: PUBLIC_KEY"));
  EXPECT_THAT(error("stores: [{ translator: a, shared: true, key: '" + key +
                    "', tables: " + counters + " }]\n"),
              HasSubstr("writers: [PUBLIC_KEY"));
  EXPECT_THAT(error("stores: [{ translator: a, shared: true, writers: ['" + key +
                    "'], tables: " + counters + " }]\n"),
              HasSubstr("keys: { secret: FILE }"));
}

}  // namespace
}  // namespace pingloom::collector::store_config_test
