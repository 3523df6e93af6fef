// A controller's process in a folder of its own, with the pinglist of the benchmark.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"

namespace pingloom::bench {

struct Shape {
  std::uint32_t agents = 100;
  std::uint32_t destinations = 1000;  // of each agent
  std::uint32_t rounds = 30;          // windows of each agent

  std::uint64_t pairs() const { return std::uint64_t{agents} * destinations; }
  std::uint64_t rows() const { return pairs() * rounds; }
};

constexpr const char* kProbe = "load";
constexpr Nanos kWindow = kSecond;
IpAddress sourceOf(std::uint32_t agent);
IpAddress destinationOf(std::uint32_t index);

// Of one process.
struct Usage {
  double cpu_seconds = 0;
  std::uint64_t resident_bytes = 0;
};
Usage usageOf(pid_t pid);

// Starts the controller and waits until it listens; the destructor stops it and removes the folder.
class Scene {
 public:
  static Result<std::unique_ptr<Scene>> start(const std::string& controller, const Shape& shape);
  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  pid_t controller() const { return controller_; }
  pid_t redis() const { return redis_; }  // the controller's own
  std::string control() const { return "tcp://127.0.0.1:" + std::to_string(port_); }
  std::string redisSocket() const { return folder_ / "redis.sock"; }
  std::uint64_t hsetCommands() const;  // that Redis has carried out, one for each report
  std::uint64_t historyBytes() const;  // of the database and its log

 private:
  Scene() = default;
  Status write(const Shape& shape);
  Status spawn(const std::string& controller);
  Status waitUntilReady();

  std::filesystem::path folder_;
  pid_t controller_ = -1;
  pid_t redis_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace pingloom::bench
