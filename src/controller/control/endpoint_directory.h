// The versioned table of RDMA endpoints, and the update messages to the part of it that is in an
// agent's scope, from any version that the agent may hold. For agents with the same scope each
// message is serialized once, and ten thousand of them get the same bytes. The control thread.
// Memory: plan::kMaxEndpoints entries of about 150 bytes, kMaxRemoved removed addresses, and those
// that the newest version changed; kMaxUpdates messages of kMaxUpdateBytes
// and one more (at most 16 MiB; 0.6 MiB for 10,000 hosts).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "control.pb.h"
#include "controller/control/endpoint_scope.h"
#include "plan/endpoint_codec.h"

namespace pingloom::controller {

class EndpointDirectory {
 public:
  // beyond it older versions get the whole table
  static constexpr std::size_t kMaxRemoved = 65'536;
  static constexpr std::size_t kMaxUpdates = 1024;
  static constexpr std::size_t kMaxUpdateBytes = std::size_t{32} << 20;

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

  // Returns a serialized ControllerMessage that makes the table that an agent holds the current one
  // of what is in `scope`. If the held one is not known, or is too old, the message contains all
  // that is in `scope`. Returns nullptr if the held table is right as it is.
  std::shared_ptr<const std::string> updateFrom(const HeldTable& held, const EndpointScope& scope);

 private:
  struct Entry {
    plan::Endpoint endpoint;
    std::uint64_t since = 0;  // the version that introduced it
  };
  // The version and the scope that an agent holds, the version for which it is right, and the scope
  // that it gets.
  using Key = std::array<std::uint64_t, 4>;
  // The gap is larger than the number of versions that can have been pushed after the kept one,
  // whose contents are unknown.
  static constexpr std::uint64_t kRestartGap = 1ULL << 32;

  bool knows(std::uint64_t held) const;
  std::string encode(const HeldTable& held, const EndpointScope& scope) const;
  template <typename Visit>
  void visitScope(std::uint64_t since, const EndpointScope& scope, bool same, Visit&& visit) const;
  void addRemoved(const HeldTable& held, const EndpointScope& scope,
                  wire::EndpointUpdate& update) const;
  void forgetRemoved();
  void forgetUpdates();

  std::uint64_t controller_;
  std::uint64_t version_ = 1;
  std::uint64_t oldest_base_ = 1;    // the oldest version from which the changes are known
  std::uint64_t kept_base_ = 0;      // the same for the version kept by the previous run; 0 if none
  std::uint64_t first_ = 1;          // the first version of this run
  std::vector<IpAddress> changing_;  // since the newest version
  std::vector<IpAddress> changed_;   // by the newest version
  bool full_logged_ = false;
  std::unordered_map<IpAddress, Entry, IpAddressHash> entries_;
  // maps a removed address to the version that removed it
  std::unordered_map<IpAddress, std::uint64_t, IpAddressHash> removed_;
  std::map<Key, std::shared_ptr<const std::string>> updates_;  // nullptr: nothing is to be told
  std::size_t update_bytes_ = 0;
};

}  // namespace pingloom::controller
