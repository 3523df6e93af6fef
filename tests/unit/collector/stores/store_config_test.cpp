#include "collector/config.h"

namespace pingloom::collector::store_config_test {
namespace {

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

TEST(StoreConfig, SaysWhatIsWrong) {
  const std::string good = "{ name: t, id: 1, kind: keyed, slots: 10, value: 8 }";
  EXPECT_EQ(table(good), "");
  EXPECT_THAT(table(""), HasSubstr("1 to 31 tables"));
  EXPECT_THAT(table(good + ", { name: t, id: 2, kind: keyed, slots: 10, value: 8 }"),
              HasSubstr("twice"));
  EXPECT_THAT(table(good + ", { name: u, id: 1, kind: keyed, slots: 10, value: 8 }"),
              HasSubstr("number"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: keyed, slots: 10 }"), HasSubstr("value: BYTES"));
  EXPECT_THAT(table("{ name: t, id: 1, kind: stack, slots: 1, value: 8 }"),
              HasSubstr("a kind is: keyed"));
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

}  // namespace
}  // namespace pingloom::collector::store_config_test
