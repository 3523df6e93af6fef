// A controller for a benchmark, in a temporary folder, with its embedded Redis.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/error.h"
#include "shared/process_usage.h"

namespace pingloom::bench {

// The pingloom-controller in the folder of the running program.
std::string builtController();

class ControllerProcess {
 public:
  // `program` is the pingloom-controller to run.
  // `more` is added to its configuration.
  ControllerProcess(std::string program, std::string pinglist, std::string more = {});
  ControllerProcess(const ControllerProcess&) = delete;
  ControllerProcess& operator=(const ControllerProcess&) = delete;
  ~ControllerProcess();  // ends it and removes the folder

  // Makes it write to this Redis instead of one of its own; `target` as in its configuration.
  void useRedis(const std::string& target);
  // Adds the cluster's section to its configuration, in which this controller has this name.
  void joinCluster(const std::string& name);
  // Makes the tables of the history that its configuration names.
  Status initHistory();
  // Starts it, and again after kill() or stop(), and waits until it answers.
  Status start();
  void kill();  // SIGKILL
  void stop();  // SIGTERM, and waits until it has ended
  Status writePinglist(const std::string& text);

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  const std::string& url() const { return url_; }
  std::filesystem::path state() const { return directory_ / "state"; }
  std::string redisSocket() const { return directory_ / "redis.sock"; }
  pid_t pid() const { return pid_; }
  Usage usage() const { return usageOf(pid_); }

 private:
  Status writeConfiguration();
  Status spawn(const char* option = nullptr);
  bool answers();

  std::string program_;
  std::string pinglist_;
  std::string redis_ = "redis: embedded\nredis_socket: redis.sock\n";
  std::string more_;
  std::filesystem::path directory_;
  std::uint16_t port_ = 0;
  std::string url_;
  pid_t pid_ = -1;
};

}  // namespace pingloom::bench
