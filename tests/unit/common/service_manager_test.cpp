#include "common/service_manager.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <csignal>
#include <cstdlib>

#include "temporary_directory.h"

namespace pingloom::service_manager_test {
namespace {

using Asked = ServiceManager::Asked;

// systemd's end of NOTIFY_SOCKET.
class ServiceManagerTest : public testing::Test {
 protected:
  ServiceManagerTest() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder_ / "socket").native().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
  }
  ~ServiceManagerTest() override {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
  }

  std::string told() const {
    char text[200];
    const ssize_t size = recv(socket_.get(), text, sizeof text, MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
  }

  const test::TemporaryDirectory folder_;
  UniqueFd socket_;
};

TEST_F(ServiceManagerTest, ReadinessAndStatusAreToldOnce) {
  const auto manager = SystemServiceManager::start();
  ASSERT_TRUE(manager);
  (*manager)->tell(false, "waiting");
  EXPECT_EQ(told(), "STATUS=waiting");
  (*manager)->tell(true, "serving");
  EXPECT_EQ(told(), "READY=1\nSTATUS=serving");
  (*manager)->tell(true, "serving");
  EXPECT_EQ(told(), "");
  (*manager)->tell(false, "waiting");  // ready it stays; systemd knows no way back
  EXPECT_EQ(told(), "STATUS=waiting");
}

TEST_F(ServiceManagerTest, AReloadIsToldWithItsEnd) {
  const auto manager = SystemServiceManager::start();
  ASSERT_TRUE(manager);
  (*manager)->tell(true, "serving");
  told();
  std::raise(SIGHUP);
  EXPECT_EQ((*manager)->asked(), Asked::kReload);
  EXPECT_EQ(told(), "RELOADING=1");
  (*manager)->tell(true, "serving");
  EXPECT_EQ(told(), "READY=1\nSTATUS=serving");
}

TEST_F(ServiceManagerTest, StoppingGoesBeforeReloading) {
  const auto manager = SystemServiceManager::start();
  ASSERT_TRUE(manager);
  EXPECT_EQ((*manager)->asked(), Asked::kNothing);
  std::raise(SIGHUP);
  std::raise(SIGTERM);
  EXPECT_EQ((*manager)->asked(), Asked::kStop);
  EXPECT_EQ(told(), "STOPPING=1");
}

TEST_F(ServiceManagerTest, TheWatchdogHearsFromALoopThatTurns) {
  setenv("WATCHDOG_USEC", "20000", 1);
  const auto manager = SystemServiceManager::start();
  ASSERT_TRUE(manager);
  pollfd ready{(*manager)->descriptor(), POLLIN, 0};
  ASSERT_EQ(poll(&ready, 1, 10'000), 1);
  EXPECT_EQ(told(), "");  // not by itself
  EXPECT_EQ((*manager)->asked(), Asked::kNothing);
  EXPECT_EQ(told(), "WATCHDOG=1");
}

}  // namespace
}  // namespace pingloom::service_manager_test
