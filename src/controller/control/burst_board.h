// Where "probe now" crosses between the HTTP thread, which asks, and the control thread, which owns
// the bursts (bursts.h): orders wait in a queue, what is known of a burst is a snapshot behind a
// pointer. No lock is held over anything but that. Bounds: kMaxWaiting orders; Bursts::kMaxKept
// snapshots.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/burst.h"
#include "common/fd.h"
#include "common/time.h"

namespace pingloom::controller {

// A pair of the plan; count and interval within the bounds of common/burst.h.
struct BurstOrder {
  std::string probe;
  IpAddress source;
  IpAddress destination;
  std::uint32_t path = 0;  // 0: the probe has one path
  std::uint32_t count = 0;
  Nanos interval = 0;
  Nanos timeout = 0;  // the probe's
};

// Why a burst was not begun.
enum class BurstRefusal : std::uint8_t {
  kBadRequest = 0,  // counted only: the HTTP thread says it itself
  kNoAgent = 1,     // nobody is there to do it
  kOldAgent = 2,    // its agent does not know how
  kAgentBusy = 3,   // it is doing another one
  kTooMany = 4,     // all in all, at a time or in a minute
  kEnding = 5,      // the controller is
};
constexpr std::array<std::string_view, 6> kBurstRefusalNames = {
    "bad_request", "no_agent", "old_agent", "agent_busy", "too_many", "ending"};

enum class BurstState : std::uint8_t { kRunning, kDone, kFailed };
constexpr std::array<std::string_view, 3> kBurstStateNames = {"running", "done", "failed"};

// What is known of one.
struct BurstSnapshot {
  std::uint64_t id = 0;
  BurstOrder order;
  std::string host;  // the agent that does it
  Nanos started_utc = 0;
  BurstState state = BurstState::kRunning;
  std::string reason;            // why it failed
  std::vector<BurstPing> pings;  // that have their verdict; by sequence
};

// What became of an order.
struct BurstAnswer {
  std::uint64_t id = 0;  // 0: refused
  BurstRefusal refusal = BurstRefusal::kBadRequest;
  std::string reason = {};
};

class BurstBoard {
 public:
  static constexpr std::size_t kMaxWaiting = 32;
  using Reply = std::function<void(BurstAnswer)>;  // any thread, once
  struct Asked {
    BurstOrder order;
    Reply reply;
  };

  BurstBoard();
  ~BurstBoard() { stop(); }
  BurstBoard(const BurstBoard&) = delete;
  BurstBoard& operator=(const BurstBoard&) = delete;

  // Whoever asks. `reply` comes from the control thread, or at once where it is refused here.
  void ask(BurstOrder order, Reply reply);
  // nullptr: there is none, or not any more.
  std::shared_ptr<const BurstSnapshot> find(std::uint64_t id) const;
  // Orders that wait are refused, and so are all that come later.
  void stop();

  // The control thread.
  int descriptor() const { return event_.get(); }  // readable while orders may wait
  std::vector<Asked> takeAsked();
  void publish(std::shared_ptr<const BurstSnapshot> snapshot);
  void forget(std::uint64_t id);

  // Any thread; since the start.
  void countStarted() { ++started_; }
  void countRefused(BurstRefusal refusal) { ++refused_[static_cast<std::size_t>(refusal)]; }
  std::uint64_t started() const { return started_; }
  std::uint64_t refused(BurstRefusal refusal) const {
    return refused_[static_cast<std::size_t>(refusal)];
  }

 private:
  UniqueFd event_;  // eventfd
  mutable std::mutex mutex_;
  std::vector<Asked> waiting_;
  std::map<std::uint64_t, std::shared_ptr<const BurstSnapshot>> known_;
  bool stopped_ = false;
  std::atomic<std::uint64_t> started_{0};
  std::array<std::atomic<std::uint64_t>, kBurstRefusalNames.size()> refused_{};
};

}  // namespace pingloom::controller
