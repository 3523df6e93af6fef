// The interface between a daemon's control loop and the service manager. Signals are requests
// (SIGTERM and SIGINT stop it, SIGHUP reloads its configuration), and systemd is told about
// readiness, status and that the loop is alive. It is used by the loop's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/fd.h"

namespace pingloom {

class ServiceManager {
 public:
  enum class Asked { kNothing, kReload, kStop };

  virtual ~ServiceManager() = default;
  virtual int descriptor() const = 0;  // call asked() when it is readable
  virtual Asked asked() = 0;
  // Reports the loop's status; it is cheap if nothing changed. Once ready, a daemon stays ready.
  virtual void tell(bool ready, std::string_view status) = 0;
};

// Handles signals and the sd_notify protocol (sd_notify(3)). Without NOTIFY_SOCKET nothing is
// reported.
class SystemServiceManager : public ServiceManager {
 public:
  // Blocks the signals and ignores SIGPIPE. Call it before any thread is started.
  static Result<std::unique_ptr<SystemServiceManager>> start();

  int descriptor() const override { return epoll_.get(); }
  Asked asked() override;
  void tell(bool ready, std::string_view status) override;

 private:
  SystemServiceManager() = default;
  Status open();

  UniqueFd epoll_;
  UniqueFd signals_;
  UniqueFd watchdog_;  // a timer at half of WATCHDOG_USEC; invalid if there is no watchdog
  bool ready_ = false;
  bool told_ = false;  // whether readiness was reported since the last reload
  std::string status_;
};

}  // namespace pingloom
