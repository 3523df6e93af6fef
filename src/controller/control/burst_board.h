// The place where bursts cross between the HTTP thread, which asks for them, and the control
// thread, which owns them (bursts.h): orders wait in a queue, and the results of a burst are a
// snapshot behind a pointer. The lock covers nothing but these two. Bounds: kMaxWaiting orders;
// Bursts::kMaxKept snapshots.
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
  kBadRequest = 0,  // only counted here: the HTTP thread answers by itself
  // The source has no agent, its agent takes no messages, or its controller no orders from here.
  kNoAgent = 1,
  kAgentBusy = 2,  // the agent runs another burst
  kTooMany = 3,    // the controller has reached its limit of bursts at a time or in a minute
  kEnding = 4,     // the controller is shutting down
};
constexpr std::array<std::string_view, 5> kBurstRefusalNames = {"bad_request", "no_agent",
                                                                "agent_busy", "too_many", "ending"};

enum class BurstState : std::uint8_t { kRunning, kDone, kFailed };
constexpr std::array<std::string_view, 3> kBurstStateNames = {"running", "done", "failed"};

// What is known of one burst.
struct BurstSnapshot {
  std::uint64_t id = 0;
  BurstOrder order;
  // The host id of the agent that runs it.
  std::string host;
  Nanos started_utc = 0;
  BurstState state = BurstState::kRunning;
  // Why it failed.
  std::string reason;
  std::vector<BurstPing> pings;  // those with a verdict, by sequence
};

// The answer to an order.
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

  // Any thread. The control thread calls `reply`; a refusal by the board itself calls it at once.
  void ask(BurstOrder order, Reply reply);
  // nullptr: there is no such burst, or it has been forgotten.
  std::shared_ptr<const BurstSnapshot> find(std::uint64_t id) const;
  // Refuses the orders that wait and all later ones.
  void stop();

  // The control thread calls these.
  int descriptor() const { return event_.get(); }  // readable while orders may wait
  std::vector<Asked> takeAsked();
  void publish(std::shared_ptr<const BurstSnapshot> snapshot);
  void forget(std::uint64_t id);

  // Any thread. The counts begin with the process.
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
