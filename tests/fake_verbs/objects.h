// The objects behind the pointers that applications hold. Members are called with the lock held,
// unless they say otherwise.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <ctime>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "device.h"
#include "packet.h"

namespace fake {

struct QueuePair;
struct CompletionQueue;

struct WorkCompletion {
  QueuePair* pair = nullptr;
  ibv_wc wc{};
  std::uint64_t ticks = 0;
  std::uint32_t frees = 0;  // places of the send queue
};

// A request of a reliable connection that is not done.
struct RcRequest {
  ibv_send_wr request{};
  std::vector<ibv_sge> pieces;
  std::int64_t due = 0;  // monotonic time of the next attempt, ns
  unsigned tries = 0;
  unsigned not_ready = 0;
};

// An arrival that is not due yet.
struct Arrival {
  PacketHeader header;
  std::vector<std::uint8_t> payload;
};

struct Context : verbs_context {
  explicit Context(Device& opened);
  ~Context();  // without the lock
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  static Context& of(ibv_context* context) {
    return *static_cast<Context*>(verbs_get_ctx(context));
  }
  void raise(const ibv_async_event& event);
  void wake();
  void run();  // the thread; without the lock
  void readSocket(QueuePair& pair);
  void deliverDue(std::int64_t now);
  timespec nextDue(std::int64_t now) const;  // until the next arrival, or the next look for faults

  Device& device;
  std::set<QueuePair*> pairs;
  std::map<std::uint32_t, ibv_mr*> regions;    // by key
  std::map<std::uint32_t, int> region_access;  // by local key
  std::uint32_t next_key = 1;
  int domains = 0;
  bool stop = false;
  int async_write = -1;
  int wake_fd = -1;
  std::thread thread;
};

struct Domain : ibv_pd {
  Domain() : ibv_pd() {}
  static Domain& of(ibv_pd* domain) { return *static_cast<Domain*>(domain); }
  int users = 0;
};

struct Handle : ibv_ah {
  Handle() : ibv_ah() {}
  ibv_ah_attr attributes{};
};

struct Channel : ibv_comp_channel {
  Channel() : ibv_comp_channel() {}
  int write_fd = -1;
};

struct CompletionQueue : ibv_cq_ex {
  CompletionQueue() : ibv_cq_ex() {}
  static CompletionQueue& of(ibv_cq* queue) {
    return *static_cast<CompletionQueue*>(reinterpret_cast<ibv_cq_ex*>(queue));
  }
  static CompletionQueue& of(ibv_cq_ex* queue) { return *static_cast<CompletionQueue*>(queue); }
  Context& owner() { return Context::of(ibv_cq_ex::context); }
  void push(const WorkCompletion& completion);
  bool pop(WorkCompletion& into);

  std::deque<WorkCompletion> waiting;
  WorkCompletion current;  // what start_poll or next_poll took
  bool timestamps = false;
  bool armed = false;
  unsigned events = 0;  // given to the application
  unsigned acknowledged = 0;
  int users = 0;
};

struct QueuePair : ibv_qp {
  explicit QueuePair(const ibv_qp_init_attr& given);
  static QueuePair& of(ibv_qp* pair) { return *static_cast<QueuePair*>(pair); }
  Context& owner() { return Context::of(ibv_qp::context); }
  CompletionQueue& completions(bool receive) {
    return CompletionQueue::of(receive ? recv_cq : send_cq);
  }

  int postSend(const ibv_send_wr& request);
  int postReceive(const ibv_recv_wr& request);
  void deliver(const Arrival& arrival);
  // To error: what is posted completes, the first receive with `first`.
  void breakDown(ibv_wc_status first);
  void complete(bool receive, std::uint64_t id, ibv_wc_status status, std::int64_t at);

  // Reliable connections; rc.cpp.
  int postRc(const ibv_send_wr& request);
  int modifyRc(const ibv_qp_attr& wanted, int mask);
  void carryOutDue(std::int64_t now);
  void flushRequests();

  struct PostedReceive {
    std::uint64_t id = 0;
    std::uint8_t* at = nullptr;
    std::size_t bytes = 0;
  };
  ibv_qp_init_attr limits;
  std::deque<PostedReceive> receives;
  std::multimap<std::int64_t, Arrival> arrivals;  // by when they are due
  std::uint32_t sends_under_way = 0;              // posted, and their completion not taken
  std::uint32_t q_key = 0;
  std::uint8_t port = 0;
  int socket = -1;

  ibv_qp_attr rc{};                // as it was modified
  std::deque<RcRequest> requests;  // posted and not done, oldest first
  std::uint32_t unreported = 0;    // done without a completion
  bool mute = false;               // no completions any more

 private:
  // Nothing: it is tried again later.
  std::optional<ibv_wc_status> attempt(RcRequest& given, std::int64_t now);
  std::optional<ibv_wc_status> missed(RcRequest& given, std::int64_t now) const;
  void endRequest(ibv_wc_status status);
};

// Whether the place is in memory registered under its key. REQUIRES the lock.
bool isRegistered(Context& context, const ibv_sge& place);

}  // namespace fake
