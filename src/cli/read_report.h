// The result of a `pingloom read` as text and as JSON. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/read_run.h"

namespace pingloom::cli {

struct ReadReport {
  std::string server;  // as the user wrote it
  std::string region;
  std::string device;         // the device of this host
  std::string server_device;  // the device of the server
  std::uint64_t region_bytes = 0;
  // The path's MTU.
  std::uint32_t mtu = 0;
  ReadJob job;
  ReadPhase alone;                    // one READ in flight
  std::optional<ReadPhase> together;  // job.depth READs in flight; none if the first phase failed
};

// "reading 10.0.0.2:test (1 MiB) from mlx5_0 to mlx5_1, path MTU 1024".
std::string titleOf(const ReadReport& report);
std::string textOf(const ReadReport& report);  // several lines
std::string jsonOf(const ReadReport& report);  // one
// Tells whether every READ that was requested, or completed before the user stopped it, is right.
bool isGood(const ReadReport& report);

}  // namespace pingloom::cli
