#include "controller/control/authorized_source.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "keys/authorized_file.h"
#include "unit/common/temporary_directory.h"
#include "unit/controller/support.h"

namespace pingloom::controller::authorized_source_test {
namespace {

// No file can be opened while this lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(AuthorizedSourceTest, ARevocationThatCannotBeReadIsReadLater) {
  const test::TemporaryDirectory folder;
  const auto file = folder / "keys.yaml";
  const net::CurveKey key = net::CurvePair::generate().public_key;
  const auto change = [&](const std::function<Status(keys::AuthorizedKeys&)>& how) {
    ASSERT_TRUE(keys::changeAuthorizedKeys(file, true, how));
  };
  change([&](keys::AuthorizedKeys& all) {
    keys::AuthorizedKey entry(key);
    entry.role = keys::Role::kCollector;
    return all.add(entry);
  });
  auto source = AuthorizedSource::open(file);
  ASSERT_TRUE(source) << source.error().text();
  change([&](keys::AuthorizedKeys& all) -> Status {
    EXPECT_TRUE(all.remove(std::string(key.text())));
    return {};
  });
  Nanos later = 0;
  {
    const NoDescriptors none;
    EXPECT_TRUE(test::eventually([&] {
      EXPECT_FALSE((*source)->reload(monotonicNow()));
      return !(*source)->newestInForce();
    }));
    later = (*source)->nextDue();
    EXPECT_LE(later, monotonicNow() + kSecond);
  }
  EXPECT_FALSE((*source)->reload(later - 1)) << "nothing has changed, and it is not time";
  EXPECT_NE((*source)->current()->find(key), nullptr);
  EXPECT_TRUE((*source)->reload(later));
  EXPECT_EQ((*source)->current()->find(key), nullptr);
  EXPECT_TRUE((*source)->newestInForce());
}

}  // namespace
}  // namespace pingloom::controller::authorized_source_test
