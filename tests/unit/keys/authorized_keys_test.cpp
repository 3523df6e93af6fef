#include "keys/authorized_keys.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "../common/temporary_directory.h"
#include "common/file.h"
#include "keys/authorized_file.h"

namespace pingloom::keys::authorized_keys_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// These keys are from ZeroMQ's manual and full of characters special to YAML and shells.
constexpr const char* kFirst = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
constexpr const char* kSecond = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";
constexpr const char* kThird = "0000000000000000000000000000000000000000";

IpAddress address(const char* text) { return *IpAddress::parse(text); }

std::string file() {
  return fmt::format(
      "keys:\n"
      "  - key: '{}'\n"
      "    role: agent\n"
      "    host: gpu-001\n"
      "    addresses: [10.0.0.1, '10.1.0.[1-8]', 'fd00::1']\n"
      "    name: 'it''s rack 1'\n"
      "    added: 2026-11-22T03:00:00Z\n"
      "  - {{ key: '{}', role: collector, name: dpu-1 }}\n",
      kFirst, kSecond);
}

AuthorizedKeys parsed(const std::string& text) {
  auto made = AuthorizedKeys::parse(text, "a.yaml");
  EXPECT_TRUE(made) << made.error().text();
  return made ? *made : AuthorizedKeys();
}

TEST(AuthorizedKeys, ReadsWhoSpeaksForWhat) {
  const AuthorizedKeys keys = parsed(file());
  ASSERT_EQ(keys.entries().size(), 2U);
  const AuthorizedKey* agent = keys.find(*net::CurveKey::parse(kFirst));
  ASSERT_NE(agent, nullptr);
  EXPECT_EQ(agent->role, Role::kAgent);
  EXPECT_EQ(agent->host, "gpu-001");
  EXPECT_EQ(agent->addresses.size(), 10U);
  EXPECT_TRUE(agent->speaksFor(address("10.1.0.8")));
  EXPECT_TRUE(agent->speaksFor(address("fd00::1")));
  EXPECT_FALSE(agent->speaksFor(address("10.1.0.9")));
  EXPECT_TRUE(keys.hostNamed("gpu-001"));
  EXPECT_FALSE(keys.hostNamed("gpu-002"));
  const AuthorizedKey* collector = keys.find(*net::CurveKey::parse(kSecond));
  ASSERT_NE(collector, nullptr);
  EXPECT_EQ(collector->role, Role::kCollector);
  EXPECT_EQ(keys.find(*net::CurveKey::parse(kThird)), nullptr);
}

TEST(AuthorizedKeys, ACollectorMayHaveAddressesButSpeaksForNone) {
  const AuthorizedKeys keys = parsed(fmt::format(
      "keys: [{{ key: '{}', role: collector, addresses: ['10.0.0.[1-64]'] }}]\n", kSecond));
  ASSERT_EQ(keys.entries().size(), 1U);
  EXPECT_EQ(keys.entries()[0].addresses.size(), 64U);
  EXPECT_FALSE(keys.entries()[0].speaksFor(address("10.0.0.1")));
  EXPECT_EQ(parsed(keys.text()).text(), keys.text());
}

TEST(AuthorizedKeys, WritesWhatItReads) {
  const AuthorizedKeys first = parsed(file());
  const AuthorizedKeys second = parsed(first.text());
  EXPECT_EQ(second.text(), first.text());
  ASSERT_EQ(second.entries().size(), 2U);
  EXPECT_EQ(second.entries()[0].name, "it's rack 1");
  EXPECT_THAT(second.entries()[0].expressions, ElementsAre("10.0.0.1", "10.1.0.[1-8]", "fd00::1"));
  EXPECT_EQ(second.entries()[0].added, "2026-11-22T03:00:00Z");
  EXPECT_EQ(parsed(AuthorizedKeys().text()).entries().size(), 0U);
  EXPECT_FALSE(AuthorizedKeys::parse("", "a.yaml")) << "a list that was cut off revokes nobody";
  EXPECT_FALSE(AuthorizedKeys::parse("keys:\n", "a.yaml"));
}

TEST(AuthorizedKeys, RemovesByKeyAndByName) {
  AuthorizedKeys keys = parsed(file());
  EXPECT_THAT(keys.remove("nobody").error().text(), HasSubstr("no key, no name and no host"));
  ASSERT_TRUE(keys.remove("it's rack 1"));
  EXPECT_EQ(keys.entries().size(), 1U);
  EXPECT_FALSE(keys.hostNamed("gpu-001"));
  ASSERT_TRUE(keys.remove(kSecond));
  EXPECT_TRUE(keys.entries().empty());
  const std::string both = fmt::format(
      "keys:\n  - {{ key: '{}', role: collector, name: a }}\n"
      "  - {{ key: '{}', role: collector, name: a }}\n",
      kFirst, kSecond);
  keys = parsed(both);
  EXPECT_THAT(keys.remove("a").error().text(), HasSubstr("several"));
  EXPECT_EQ(keys.entries().size(), 2U);
  EXPECT_EQ(parsed("keys: []\n").remove("").error().reason,
            "no key, no name and no host that is authorised");
}

TEST(AuthorizedKeys, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string text;
    const char* place;
    const char* remedy;
  };
  const std::string key = fmt::format("key: '{}'", kFirst);
  const auto entry = [](const std::string& inside) { return "keys:\n  - { " + inside + " }\n"; };
  const Case cases[] = {
      {"- a\n", "a.yaml:1", ""},
      {"key: a\n", "a.yaml:1", "key"},
      {"keys: a\n", "a.yaml:1", "expected a list"},
      {"keys:\n  - a\n", "a.yaml:2", "write '- { key"},
      {entry("role: agent"), "a.yaml:2", "'key' is missing"},
      {entry(key + ", addresses: [10.0.0.1]"), "a.yaml:2", "'role' is missing"},
      {entry("key: abc, role: agent"), "a.yaml:2", "40 characters"},
      {entry("key: [a], role: agent"), "a.yaml:2", ""},
      {entry(key + ", role: agents, addresses: [10.0.0.1]"), "a.yaml:2", "did you mean 'agent'"},
      {entry(key + ", role: agent"), "a.yaml:2", "needs the addresses"},
      {entry(key + ", role: agent, addresses: 10.0.0.1"), "a.yaml:2", "expected a list of addr"},
      {entry(key + ", role: agent, addresses: [host]"), "a.yaml:2", "host"},
      {entry(key + ", role: agent, addresses: ['10.0.0.[9-1]']"), "a.yaml:2", "reversed"},
      {entry(key + ", role: agent, addresses: ['10.0.[0-255].[0-255]', 10.1.0.1]"), "a.yaml:2", ""},
      {entry(key + ", role: collector, addresses: ['10.0.0.[1-65]']"), "a.yaml:2", "at most 64"},
      {entry(key + ", role: collector, host: a"), "a.yaml:2", "has no host"},
      {entry(key + ", role: agent, addresses: [10.0.0.1], host: 'a b'"), "a.yaml:2", "no blanks"},
      {entry(key + ", role: collector, name: ''"), "a.yaml:2", "1 to 128"},
      {entry(key + ", role: collector, name: \"a\\nb\""), "a.yaml:2", "control"},
      {entry(key + ", role: collector, added: now"), "a.yaml:2", "not a time"},
      {entry(key + ", role: collector, adress: now"), "a.yaml:2", "unknown"},
      {entry(key + ", role: collector") + "  - { " + key + ", role: collector }\n", "a.yaml:3",
       "already"},
      {"keys: [", "a.yaml:", ""},
      {"keys: \xff\n", "a.yaml:1:7", "UTF-8"},
  };
  for (const Case& one : cases) {
    const auto made = AuthorizedKeys::parse(one.text, "a.yaml");
    ASSERT_FALSE(made) << one.text;
    EXPECT_THAT(made.error().text(), StartsWith(one.place)) << one.text;
    EXPECT_THAT(made.error().text(), HasSubstr(one.remedy)) << one.text;
  }
  EXPECT_THAT(AuthorizedKeys::parse(std::string((16U << 20) + 1, ' '), "a.yaml").error().text(),
              HasSubstr("16 MiB"));
}

class AuthorizedFileTest : public testing::Test {
 protected:
  static Status addNew(const std::filesystem::path& file) {
    return changeAuthorizedKeys(file, true, [](AuthorizedKeys& keys) {
      AuthorizedKey entry(net::CurvePair::generate().public_key);
      entry.role = Role::kCollector;
      return keys.add(std::move(entry));
    });
  }
  static mode_t modeOf(const std::filesystem::path& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }

  const test::TemporaryDirectory folder_;
};

TEST_F(AuthorizedFileTest, KeepsModeAndLinks) {
  const auto file = folder_ / "a.yaml";
  ASSERT_TRUE(addNew(file));
  EXPECT_EQ(modeOf(file), 0644U);
  chmod(file.c_str(), 0640);
  std::filesystem::create_symlink("a.yaml", folder_ / "link");
  ASSERT_TRUE(addNew(folder_ / "link"));
  EXPECT_EQ(modeOf(file), 0640U);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(loadAuthorizedKeys(file)->entries().size(), 2U);
}

TEST_F(AuthorizedFileTest, LeavesWhatItCannotReadAlone) {
  const auto file = folder_ / "a.yaml";
  std::ofstream(file) << "keys: [\n";
  EXPECT_FALSE(addNew(file));
  EXPECT_EQ(*readFile(file, 100), "keys: [\n");
  const auto nothing = [](AuthorizedKeys&) -> Status { return {}; };
  EXPECT_FALSE(changeAuthorizedKeys(folder_ / "b.yaml", false, nothing));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b.yaml"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.yaml.tmp"));
}

TEST_F(AuthorizedFileTest, NeverWritesWhatNobodyCouldRead) {
  const auto file = folder_ / "a.yaml";
  ASSERT_TRUE(addNew(file));
  const auto before = *readFile(file, 10'000);
  const auto changed = changeAuthorizedKeys(file, false, [](AuthorizedKeys& keys) {
    AuthorizedKey entry(net::CurvePair::generate().public_key);
    entry.host = "gpu\xff";
    EXPECT_TRUE(addAddresses("10.0.0.1", entry));
    return keys.add(std::move(entry));
  });
  ASSERT_FALSE(changed);
  EXPECT_THAT(changed.error().text(), HasSubstr("UTF-8"));
  EXPECT_EQ(*readFile(file, 10'000), before);
}

TEST_F(AuthorizedFileTest, RefusesAListThatEverybodyMayWrite) {
  const auto file = folder_ / "a.yaml";
  ASSERT_TRUE(addNew(file));
  chmod(file.c_str(), 0666);
  EXPECT_THAT(loadAuthorizedKeys(file).error().text(), HasSubstr("chmod o-w"));
}

TEST_F(AuthorizedFileTest, NoChangeOfManyIsLost) {
  const auto file = folder_ / "a.yaml";
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 5; ++k) EXPECT_TRUE(addNew(file));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(loadAuthorizedKeys(file)->entries().size(), 20U);
}

}  // namespace
}  // namespace pingloom::keys::authorized_keys_test
