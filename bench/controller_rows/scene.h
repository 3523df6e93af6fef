// Runs a controller for this benchmark with its pinglist, and tells what its Redis and its history
// hold.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "shared/controller_process.h"

namespace pingloom::bench {

struct Shape {
  std::uint32_t agents = 100;
  std::uint32_t destinations = 1000;  // of each agent
  std::uint32_t rounds = 30;          // windows of each agent

  std::uint64_t pairs() const { return std::uint64_t{agents} * destinations; }
  std::uint64_t rows() const { return pairs() * rounds; }
};

constexpr const char* kProbe = "load";
// Redis forgets a source three windows after its last report. A window has to be long enough that
// the first source is still there when the last one has been delivered.
constexpr Nanos kWindow = 10 * kSecond;
IpAddress sourceOf(std::uint32_t agent);
IpAddress destinationOf(std::uint32_t index);

class Scene {
 public:
  // Starts the controller and waits until it and its Redis are ready.
  static Result<std::unique_ptr<Scene>> start(const std::string& controller, const Shape& shape);

  Usage controller() const { return process_.usage(); }
  Usage redis() const { return usageOf(redis_); }
  std::string control() const { return "tcp://" + process_.address(); }
  std::string redisSocket() const { return process_.redisSocket(); }
  // Gives how many HSETs Redis has carried out, one for each report.
  std::uint64_t hsetCommands() const;
  // Gives the bytes of the database and its log.
  std::uint64_t historyBytes() const;

 private:
  Scene(const std::string& controller, const std::string& pinglist)
      : process_(controller, pinglist) {}
  Status waitForRedis();

  ControllerProcess process_;
  pid_t redis_ = -1;  // the controller's own
};

}  // namespace pingloom::bench
