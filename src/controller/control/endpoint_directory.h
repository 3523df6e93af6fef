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
#include <vector>

#include "common/address.h"
#include "plan/endpoint_codec.h"

namespace pingloom::controller {

class EndpointDirectory {
 public:
  static constexpr std::size_t kMaxRemoved = 65'536;  // then older versions get the whole table
  static constexpr std::size_t kMaxUpdates = 16;

  // `kept`: what an earlier run of this controller kept; it is gone on from. Otherwise the
  // directory begins empty, as that of a controller of which nobody has heard.
  explicit EndpointDirectory(const plan::HeldEndpoints& kept);

  // The address is reached so from now on, or by nothing (nullptr). Takes effect with commit().
  void set(const IpAddress& address, const plan::Endpoint* endpoint);
  // True: what was set since the last call makes a new version.
  bool commit();

  // What to keep for the next run.
  plan::HeldEndpoints held() const;

  std::uint64_t controller() const { return controller_; }
  std::uint64_t version() const { return version_; }  // the empty table is 1
  bool empty() const { return entries_.empty(); }
  std::vector<IpAddress> addresses() const;

  // A serialized ControllerMessage that makes the current table of the version held, or of nothing
  // where that is not known: 0, or too old.
  std::shared_ptr<const std::string> updateFrom(std::uint64_t held);

 private:
  struct Entry {
    plan::Endpoint endpoint;
    std::uint64_t since = 0;  // the version it came with
  };
  // Above all versions that were pushed after the kept one: what they were is not known.
  static constexpr std::uint64_t kRestartGap = 1ULL << 32;

  bool knows(std::uint64_t held) const;
  std::string encode(std::uint64_t base) const;
  void forgetRemoved();

  std::uint64_t controller_;
  std::uint64_t version_ = 1;
  std::uint64_t oldest_base_ = 1;  // what has changed since then is known
  std::uint64_t kept_base_ = 0;    // and since this one, of the run before; 0: none
  bool changed_ = false;
  bool full_logged_ = false;
  std::unordered_map<IpAddress, Entry, IpAddressHash> entries_;
  std::unordered_map<IpAddress, std::uint64_t, IpAddressHash> removed_;  // with which version
  std::map<std::uint64_t, std::shared_ptr<const std::string>> updates_;  // by base
};

}  // namespace pingloom::controller
