// The RDMA endpoints that agents get, as a table with versions, and the messages that lead to it
// from any version that an agent may hold, each serialized once: ten thousand agents get the same
// bytes. The control thread.
//
// Memory: plan::kMaxEndpoints entries (some 150 bytes each), kMaxRemoved addresses that are not in
// the table any more, kMaxUpdates messages (at most 16 MiB, for 10,000 hosts 0.6 MiB).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/address.h"
#include "plan/endpoint.h"

namespace pingloom::controller {

class EndpointDirectory {
 public:
  static constexpr std::size_t kMaxRemoved = 65'536;  // then older versions get the whole table
  static constexpr std::size_t kMaxUpdates = 16;

  // `controller` names this run: versions of another one are none of ours.
  explicit EndpointDirectory(std::uint64_t controller) : controller_(controller) {}

  // The address is reached so from now on, or by nothing (nullptr). Takes effect with commit().
  void set(const IpAddress& address, const plan::Endpoint* endpoint);
  // True: what was set since the last call makes a new version.
  bool commit();

  std::uint64_t controller() const { return controller_; }
  std::uint64_t version() const { return version_; }  // the empty table is 1
  bool empty() const { return entries_.empty(); }

  // Whether there is a difference from this version to the current one.
  bool knows(std::uint64_t held) const { return held >= oldest_base_ && held <= version_; }
  // A serialized ControllerMessage that makes the current table of the version held, or of whatever
  // the agent holds where that is not known: 0, or too old. Then `complete` says whether endpoints
  // that are not in the table are to go.
  std::shared_ptr<const std::string> updateFrom(std::uint64_t held, bool complete);

 private:
  struct Entry {
    plan::Endpoint endpoint;
    std::uint64_t since = 0;  // the version it came with
  };
  std::string encode(std::uint64_t base, bool complete) const;
  void forgetRemoved();

  const std::uint64_t controller_;
  std::uint64_t version_ = 1;
  std::uint64_t oldest_base_ = 1;  // removals since then are known
  bool changed_ = false;
  bool full_logged_ = false;
  std::unordered_map<IpAddress, Entry, IpAddressHash> entries_;
  std::unordered_map<IpAddress, std::uint64_t, IpAddressHash> removed_;  // with which version
  // By base and completeness.
  std::map<std::pair<std::uint64_t, bool>, std::shared_ptr<const std::string>> updates_;
};

}  // namespace pingloom::controller
