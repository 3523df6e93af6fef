// What a `pingloom read` has found, for people and for programs. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/read_run.h"

namespace pingloom::cli {

struct ReadReport {
  std::string server;  // as the user wrote it
  std::string region;
  std::string device;         // here
  std::string server_device;  // there
  std::uint64_t region_bytes = 0;
  std::uint32_t mtu = 0;  // of the path
  ReadJob job;
  ReadPhase alone;                    // one READ at a time
  std::optional<ReadPhase> together;  // job.depth at a time; none where the first went wrong
};

// "reading 10.0.0.2:test (1 MiB) from mlx5_0 to mlx5_1, path MTU 1024".
std::string titleOf(const ReadReport& report);
std::string textOf(const ReadReport& report);  // several lines
std::string jsonOf(const ReadReport& report);  // one
// Everything that was asked for, or done until the user ended it, is right.
bool isGood(const ReadReport& report);

}  // namespace pingloom::cli
