// A bounded cache with expiry of the address handles of one endpoint's peers. Handles are created
// off the hot path. A handle lives until the last send that uses it has completed, because each
// send shares its ownership. One thread.
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
  static constexpr std::size_t kMax = 32768;    // beyond it the least recently used one is evicted
  static constexpr Nanos kIdle = 5 * kMinute;   // unused handles are evicted after this time
  static constexpr Nanos kFresh = 5 * kMinute;  // resolved again in the background after this time
  static constexpr Nanos kFailureKept =
      3 * kSecond;  // how long a peer counts as unreachable before it is resolved again
  static constexpr Nanos kRecheckApart = kSecond;

  AddressHandles(std::shared_ptr<OpenedDevice> device, const PathDefaults& defaults)
      : resolver_(std::move(device), defaults) {}

  struct Found {
    PostResult result = PostResult::kResolving;  // kPosted means that there is a handle
    const std::shared_ptr<ibv_ah>* handle = nullptr;
  };
  // Returns what is known and requests resolution of what is not. The result is valid until the
  // next call.
  Found find(const UdPath& path, Nanos now_mono);
  // Requests resolution before the first message, ahead of paths that were not prepared.
  void prepare(const UdPath& path, Nanos now_mono);
  // Resolves the path again; the known result stays in use meanwhile.
  void recheck(const UdPath& path, Nanos now_mono);
  // Takes the resolver's results and evicts unused handles.
  void update(Nanos now_mono);
  std::uint64_t failures() const { return failures_; }

 private:
  enum class State : std::uint8_t { kNew, kReady, kFailed };
  struct Entry {
    UdPath path;
    State state = State::kNew;
    bool asked = false;    // whether the resolver has the request
    bool planned = false;  // whether the resolver takes it ahead of others
    Nanos used = 0;
    Nanos asked_at = 0;
    std::shared_ptr<ibv_ah> handle;
  };
  using Entries = std::list<Entry>;

  Entry& entryOf(const UdPath& path, Nanos now_mono);
  void ask(Entry& entry, bool planned, Nanos now_mono);
  void drop(Entries::iterator entry);

  AhResolver resolver_;  // keeps the device alive on which the handles were created
  Entries entries_;      // least recently used first
  std::unordered_map<UdPath, Entries::iterator, UdPathHash> by_path_;
  std::uint64_t failures_ = 0;
};

}  // namespace pingloom::rdma::verbs
