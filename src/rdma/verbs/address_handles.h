// The address handles of one endpoint's peers: a cache with a bound and an expiry, filled off the
// hot path. A handle that a send still uses lives until that send has completed, for the sender
// holds a share of it. One thread.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>

#include "common/time.h"
#include "rdma/ud_endpoint.h"
#include "rdma/verbs/ah_resolver.h"

namespace pingloom::rdma::verbs {

class AddressHandles {
 public:
  static constexpr std::size_t kMax = 32768;    // the least recently used makes room
  static constexpr Nanos kIdle = 5 * kMinute;   // forgotten when unused for this long
  static constexpr Nanos kFresh = 5 * kMinute;  // looked up again in the background after this
  static constexpr Nanos kFailureKept =
      3 * kSecond;  // until an unreachable peer is looked up again
  static constexpr Nanos kRecheckApart = kSecond;

  AddressHandles(std::shared_ptr<OpenedDevice> device, const PathDefaults& defaults)
      : resolver_(std::move(device), defaults) {}

  struct Found {
    PostResult result = PostResult::kResolving;  // kPosted: there is a handle
    const std::shared_ptr<ibv_ah>* handle = nullptr;
  };
  // Asks for what is not known; valid until the next call.
  Found find(const UdPath& path, Nanos now_mono);
  // Asks ahead of the first message, and before all that nobody has prepared.
  void prepare(const UdPath& path, Nanos now_mono);
  // Looks again; what is known stays in use meanwhile.
  void recheck(const UdPath& path, Nanos now_mono);
  // Takes in what the resolver found, and forgets what nobody uses.
  void update(Nanos now_mono);
  std::uint64_t failures() const { return failures_; }

 private:
  enum class State : std::uint8_t { kNew, kReady, kFailed };
  struct Entry {
    UdPath path;
    State state = State::kNew;
    bool asked = false;    // the resolver has it
    bool planned = false;  // and takes it before others
    Nanos used = 0;
    Nanos asked_at = 0;
    std::shared_ptr<ibv_ah> handle;
  };
  using Entries = std::list<Entry>;

  Entry& entryOf(const UdPath& path, Nanos now_mono);
  void ask(Entry& entry, bool planned, Nanos now_mono);
  void drop(Entries::iterator entry);

  AhResolver resolver_;  // keeps the device that the handles are of
  Entries entries_;      // least recently used first
  std::unordered_map<UdPath, Entries::iterator, UdPathHash> by_path_;
  std::uint64_t failures_ = 0;
};

}  // namespace pingloom::rdma::verbs
