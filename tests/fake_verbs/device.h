// A fake device: what it is, what is broken about it at the moment, and who has it open.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "config.h"

namespace fake {

struct Context;

std::int64_t monotonicNanos();

// All state of the library is under this one lock.
std::recursive_mutex& bigLock();
using Lock = std::lock_guard<std::recursive_mutex>;

// Given to applications as its ibv_device. Never destroyed: they may hold on to it.
struct Device : ibv_device {
  explicit Device(const DeviceConfig& given, const std::string& config_path);

  // What its clock shows at that time.
  std::uint64_t ticksAt(std::int64_t mono_nanos) const;
  PortConfig* port(std::uint8_t number);
  bool hasGid(std::uint8_t port_number, const GidBytes& gid);

  DeviceConfig config;
  bool removed = false;
  std::set<Context*> contexts;
  int failing_sends = 0;                 // so many complete in error
  int failing_posts = 0;                 // so many are not taken
  int lost_packets = 0;                  // so many never arrive
  bool hangs = false;                    // requests of reliable connections are never done
  int racing = 0;                        // what arrives waits until so many queues are being armed
  std::map<GidBytes, int> handle_errno;  // ibv_create_ah towards these fails
  std::map<GidBytes, int> handle_delay_ms;  // or takes so long first
  std::set<GidBytes> held_lookups;          // or does not end yet
};

// The devices of the configuration file as it is now.
std::vector<Device*> currentDevices();
Device* deviceNamed(const std::string& name);

// One line: a fault to apply. See faults.cpp.
void applyFault(const std::string& line);
// Applies the lines that were added to the file PINGLOOM_FAKE_VERBS with ".faults" behind it.
void applyNewFaults();

}  // namespace fake
