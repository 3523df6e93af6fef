// The server for collectors: a ZeroMQ ROUTER that gives each collector an RC endpoint, on which it
// may read the pool's range, and the directory of the range (wire/pages.proto). Only connected
// collectors get an rkey, and with a gate only those with an authorised key. A collector's endpoint
// has to be at the address that it connects from, or at one that its key is authorised for. When a
// key or that address is revoked, the endpoints are destroyed with the next work(). It runs on the
// thread of the pool and the device.
// Bounds: kReaders collectors; the endpoint of a collector without requests is destroyed after
// kPatience, and so is that of one that has not taken a removal within kMaxBehind. What collectors
// say about traces is written into the pages' headers: the one that keeps the most of them counts.
// A request has at most kRequestBytes (a larger one ends its connection). An answer has about
// kAnswerBytes; the collector requests the rest separately.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "net/zmq_router.h"
#include "pages/page_pool.h"
#include "pages/trace_advice.h"
#include "rdma/device.h"

namespace pingloom::wire {
class DirectoryRequest;
class PageConnect;
class PageReply;
class PageRequest;
}  // namespace pingloom::wire

namespace pingloom::pages {

struct PageServerOptions {
  SocketAddress listen;
  std::string host;  // the agent's host id
  std::uint64_t incarnation = 0;
  std::shared_ptr<net::PeerGate> gate;  // admits collectors; nullptr admits all of them
};

struct PageServerCounters {
  std::uint64_t requests = 0;
  std::uint64_t connected = 0;
  std::uint64_t malformed = 0;  // malformed requests
  std::uint64_t version = 0;    // requests with another protocol version
  std::uint64_t unknown = 0;    // requests of collectors that are not connected (any more)
  std::uint64_t full = 0;       // refused because kReaders are connected
  std::uint64_t elsewhere = 0;  // the collector's endpoint is at an address of somebody else
  std::uint64_t device = 0;     // the device could not create an endpoint
  std::uint64_t failed = 0;     // endpoints that have failed
  std::uint64_t revoked = 0;    // requests with a key that was revoked meanwhile
  std::uint64_t flood = 0;      // requests dropped because their sender had too many waiting
};

class PageServer {
 public:
  static constexpr std::size_t kReaders = 64;
  static constexpr Nanos kPatience = 30 * kSecond;
  static constexpr Nanos kMaxMove = 5 * kSecond;  // time for readers to move to a fresh range
  // Time for readers to take removals of metrics and pages. Those that have not are disconnected:
  // the memory is another metric's after PageSchema::kRest, which is longer by what the ticks of
  // this thread may add.
  static constexpr Nanos kMaxBehind = 30 * kSecond;
  static constexpr Nanos kAdviseAgain = 5 * kSecond;  // if something happens then
  static constexpr std::size_t kAnswerBytes = 1U << 20;
  static constexpr std::size_t kRequestBytes = 4096;
  // answers queued for a collector that does not read them
  static constexpr int kAnswersWaiting = 8;
  // requests handled before the endpoints get their turn
  static constexpr int kRequestsAtATime = 64;

  // REQUIRES: device and pool outlive the server.
  static Result<std::unique_ptr<PageServer>> create(const PageServerOptions& options,
                                                    rdma::Device& device, PagePool& pool);

  SocketAddress address() const { return socket_->address(); }
  std::vector<int> descriptors() const;  // call work() when one of them is readable
  void work(Nanos now);                  // never blocks

  // A request as it arrived, and what is known about its sender.
  struct Asked {
    std::string_view route;
    std::string_view bytes;
    std::optional<net::CurveKey> key;  // nullopt without a gate
    std::string_view peer;             // its address, or "" if unknown
  };
  // Returns the answer to a request. With nullopt the answer follows when the endpoint has
  // connected or failed to.
  std::optional<wire::PageReply> answer(const Asked& asked, Nanos now);

  Nanos nextWake() const;
  std::size_t readers() const { return readers_.size(); }
  PageServerCounters counters() const;

 private:
  struct Reader {
    std::string name;
    std::unique_ptr<rdma::RcEndpoint> endpoint;
    std::uint64_t epoch = 0;  // the epoch that it reads or was first told of; 0 if none
    Nanos connected = 0;
    Nanos heard = 0;
    std::uint64_t version = 0;         // the directory's version that it reads by
    std::optional<net::CurveKey> key;  // nullopt without a gate
    bool connecting = false;           // whether the answer is still due
    // The address of its endpoint, if only its key permits that address.
    std::optional<IpAddress> elsewhere = std::nullopt;
    TraceAdvice advice = {};
  };

  PageServer(const PageServerOptions& options, rdma::Device& device, PagePool& pool)
      : options_(options), device_(device), pool_(pool) {}
  void take(const net::ZmqRouter::Message& message, Nanos now);
  bool mayRead(const std::optional<net::CurveKey>& key) const;
  bool mayStay(const Reader& reader) const;
  void dropRevoked();
  void drop(const std::string& route);
  Status takeAdvice(Reader& reader, const wire::DirectoryRequest& request);
  void advise(Nanos now);
  void send(const std::string& route, wire::PageReply reply);
  std::optional<wire::PageReply> replyTo(const Asked& asked, Nanos now);
  std::optional<wire::PageReply> carryOut(const Asked& asked, const wire::PageRequest& request,
                                          Nanos now);
  std::optional<wire::PageReply> connect(const Asked& asked, const wire::PageConnect& request,
                                         Nanos now);
  Result<std::optional<IpAddress>> checkPeer(const Asked& asked, const rdma::RcAddress& peer) const;
  wire::PageReply connected(const Reader& reader);
  wire::PageReply notConnected(const Error& why);
  bool pollEndpoint(const std::string& route, Reader& reader, Nanos now);
  wire::PageReply directory(Reader& reader, const wire::DirectoryRequest& request);
  void pollEndpoints(Nanos now);
  void retireRange(Nanos now);
  void dropBehind(Nanos now);

  const PageServerOptions options_;
  rdma::Device& device_;
  PagePool& pool_;
  std::unique_ptr<net::ZmqRouter> socket_;
  std::map<std::string, Reader> readers_;  // keyed by ZeroMQ's routing id
  std::uint64_t keys_seen_ = 0;  // the gate's generation for which readers_ was last checked
  bool advice_changed_ = true;
  Nanos next_advice_ = 0;
  // The epoch and version of the directory whose pages have the advice.
  std::pair<std::uint64_t, std::uint64_t> advised_;
  // Versions of the directory that readers have to take, and since when; one for each second.
  std::deque<std::pair<Nanos, std::uint64_t>> removals_;
  std::uint64_t removal_seen_ = 0;  // the last one of them
  rdma::RcEvents events_;
  PageServerCounters counters_;
};

}  // namespace pingloom::pages
