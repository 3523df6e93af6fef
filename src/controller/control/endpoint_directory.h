// The versioned table of RDMA endpoints that agents get, and the update messages to it from any
// version that an agent may hold. Each message is serialized once, and ten thousand agents get the
// same bytes. The control thread.
// Memory: plan::kMaxEndpoints entries of about 150 bytes, kMaxRemoved removed addresses,
// kMaxUpdates messages (at most 16 MiB; 0.6 MiB for 10,000 hosts).
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
  // beyond it older versions get the whole table
  static constexpr std::size_t kMaxRemoved = 65'536;
  static constexpr std::size_t kMaxUpdates = 16;

  // Continues from `kept`, the table of this controller's previous run. If there is none, the
  // directory begins empty under a new identity.
  explicit EndpointDirectory(const plan::HeldEndpoints& kept);

  // Sets the endpoint of an address, or removes it (nullptr). It takes effect with commit().
  void set(const IpAddress& address, const plan::Endpoint* endpoint);
  // Returns true if the changes since the last call made a new version.
  bool commit();

  // Returns the table to keep for the next run.
  plan::HeldEndpoints held() const;

  std::uint64_t controller() const { return controller_; }
  std::uint64_t version() const { return version_; }  // the empty table has version 1
  bool empty() const { return entries_.empty(); }
  std::vector<IpAddress> addresses() const;

  // Returns a serialized ControllerMessage that updates the held version to the current table. If
  // the held version is 0 or too old, the message contains the whole table.
  std::shared_ptr<const std::string> updateFrom(std::uint64_t held);

 private:
  struct Entry {
    plan::Endpoint endpoint;
    std::uint64_t since = 0;  // the version that introduced it
  };
  // The gap is larger than the number of versions that can have been pushed after the kept one,
  // whose contents are unknown.
  static constexpr std::uint64_t kRestartGap = 1ULL << 32;

  bool knows(std::uint64_t held) const;
  std::string encode(std::uint64_t base) const;
  void forgetRemoved();

  std::uint64_t controller_;
  std::uint64_t version_ = 1;
  std::uint64_t oldest_base_ = 1;  // the oldest version from which the changes are known
  std::uint64_t kept_base_ = 0;    // the same for the version kept by the previous run; 0 if none
  bool changed_ = false;
  bool full_logged_ = false;
  std::unordered_map<IpAddress, Entry, IpAddressHash> entries_;
  // maps a removed address to the version that removed it
  std::unordered_map<IpAddress, std::uint64_t, IpAddressHash> removed_;
  std::map<std::uint64_t, std::shared_ptr<const std::string>> updates_;  // keyed by base version
};

}  // namespace pingloom::controller
