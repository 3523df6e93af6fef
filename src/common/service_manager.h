// Between a daemon's control loop and who runs it: what it is asked by signals (SIGTERM and SIGINT
// end it, SIGHUP reloads its configuration), and what it tells systemd (readiness, status, that its
// loop still turns). One thread: the loop's.
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
  virtual int descriptor() const = 0;  // readable: call asked()
  virtual Asked asked() = 0;
  // What the loop is doing; cheap where nothing changed. Once ready, a daemon stays it.
  virtual void tell(bool ready, std::string_view status) = 0;
};

// Signals and the sd_notify protocol (sd_notify(3)); where no NOTIFY_SOCKET is set nothing is told.
class SystemServiceManager : public ServiceManager {
 public:
  // Blocks the signals and ignores SIGPIPE: before any thread is started.
  static Result<std::unique_ptr<SystemServiceManager>> start();

  int descriptor() const override { return epoll_.get(); }
  Asked asked() override;
  void tell(bool ready, std::string_view status) override;

 private:
  SystemServiceManager() = default;
  Status open();

  UniqueFd epoll_;
  UniqueFd signals_;
  UniqueFd watchdog_;  // timer at half of WATCHDOG_USEC; invalid where systemd wants none
  bool ready_ = false;
  bool told_ = false;  // that it is ready, since the last reload
  std::string status_;
};

}  // namespace pingloom
