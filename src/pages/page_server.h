// What collectors talk to: a ZeroMQ ROUTER that gives each of them an RC endpoint on which it may
// read the pool's range, and the directory of what lies there (wire/pages.proto). It hands rkeys to
// nobody who has not connected here, and with a gate to nobody whose key is not let in; whose key
// is revoked loses its endpoint with the next work(). One thread, the pool's and the device's.
//
// Bounds: kReaders collectors; one that has asked for nothing for kPatience loses its endpoint. A
// request has at most kRequestBytes (a larger one ends its connection), an answer about
// kAnswerBytes; the rest is asked for again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "net/zmq_router.h"
#include "pages/page_pool.h"
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
  std::string host;  // the agent's id
  std::uint64_t incarnation = 0;
  std::shared_ptr<net::PeerGate> gate;  // which collectors may read; nullptr: whoever connects
};

struct PageServerCounters {
  std::uint64_t requests = 0;
  std::uint64_t connected = 0;
  std::uint64_t malformed = 0;  // no request of this protocol
  std::uint64_t version = 0;    // of the protocol, another one
  std::uint64_t unknown = 0;    // from a collector that has not connected, or was too silent
  std::uint64_t full = 0;       // more than kReaders
  std::uint64_t device = 0;     // the device made no endpoint
  std::uint64_t failed = 0;     // endpoints that failed
  std::uint64_t revoked = 0;    // asked with a key that was revoked meanwhile
};

class PageServer {
 public:
  static constexpr std::size_t kReaders = 64;
  static constexpr Nanos kPatience = 30 * kSecond;
  static constexpr Nanos kMaxMove = 5 * kSecond;  // to a fresh range
  static constexpr std::size_t kAnswerBytes = 1U << 20;
  static constexpr std::size_t kRequestBytes = 4096;
  static constexpr int kAnswersWaiting = 8;    // of a collector that does not take them
  static constexpr int kRequestsAtATime = 64;  // before the endpoints have their turn

  // Device and pool outlive the server.
  static Result<std::unique_ptr<PageServer>> create(const PageServerOptions& options,
                                                    rdma::Device& device, PagePool& pool);

  SocketAddress address() const { return socket_->address(); }
  std::vector<int> descriptors() const;  // any readable: call work()
  void work(Nanos now);                  // never waits

  // A request as it came, and what is known of who sent it.
  struct Asked {
    std::string_view route;
    std::string_view bytes;
    std::optional<net::CurveKey> key;  // none without a gate
    std::string_view peer;             // its address; "" unknown
  };
  // The answer, which work() sends to what its socket brings. nullopt: it comes when the endpoint
  // is connected, or is not.
  std::optional<wire::PageReply> answer(const Asked& asked, Nanos now);

  Nanos nextWake() const;
  std::size_t readers() const { return readers_.size(); }
  const PageServerCounters& counters() const { return counters_; }

 private:
  struct Reader {
    std::string name;
    std::unique_ptr<rdma::RcEndpoint> endpoint;
    std::uint64_t epoch = 0;  // that it reads, or has been told of first; 0: none yet
    Nanos heard = 0;
    std::optional<net::CurveKey> key;  // none without a gate
    bool connecting = false;           // it has not been answered yet
  };

  PageServer(const PageServerOptions& options, rdma::Device& device, PagePool& pool)
      : options_(options), device_(device), pool_(pool) {}
  void take(const net::ZmqRouter::Message& message, Nanos now);
  bool mayRead(const std::optional<net::CurveKey>& key) const;
  void dropRevoked();
  void send(const std::string& route, wire::PageReply reply);
  std::optional<wire::PageReply> replyTo(const Asked& asked, Nanos now);
  std::optional<wire::PageReply> carryOut(const std::string& route,
                                          const wire::PageRequest& request, Nanos now);
  std::optional<wire::PageReply> connect(const std::string& route, const wire::PageConnect& request,
                                         Nanos now);
  wire::PageReply connected(const Reader& reader);
  wire::PageReply notConnected(const Error& why);
  bool pollEndpoint(const std::string& route, Reader& reader, Nanos now);
  wire::PageReply directory(Reader& reader, const wire::DirectoryRequest& request);
  void pollEndpoints(Nanos now);
  void retireRange(Nanos now);

  const PageServerOptions options_;
  rdma::Device& device_;
  PagePool& pool_;
  std::unique_ptr<net::ZmqRouter> socket_;
  std::map<std::string, Reader> readers_;  // by ZeroMQ's route
  std::uint64_t keys_seen_ = 0;            // the gate's generation that readers_ conform to
  rdma::RcEvents events_;
  PageServerCounters counters_;
};

}  // namespace pingloom::pages
