// The server for translators: a ZeroMQ ROUTER that gives the one translator of each store an RC
// endpoint, with which it writes the store (wire/store.proto, docs/store-control.md). It runs on
// one thread, that of the device.
//
// Each connection has a protection domain of its own, in which nothing but its store's region is
// registered, without the head page. Before a translator gets its endpoint, the one that its store
// had before is closed and its rkey is dead, so a store never has two writers. A translator's
// endpoint is at the address of its TCP connection, so nobody can direct responses at others.
// Bounds: one connection for each store; one without requests ends after store::kPatience. A
// request has at most store::kMaxRequestBytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/stores/store_config.h"
#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "net/zmq_router.h"
#include "rdma/device.h"
#include "store/store_file.h"
#include "store/store_messages.h"

namespace pingloom::collector {

struct StoreServerOptions {
  SocketAddress listen;
  std::shared_ptr<net::PeerGate> gate;  // admits translators; nullptr admits all of them
};

struct StoreCounters {
  std::uint64_t requests = 0;
  std::uint64_t connected = 0;  // endpoints made
  std::uint64_t malformed = 0;
  std::uint64_t version = 0;      // requests with another protocol version
  std::uint64_t unknown = 0;      // no store is for a translator with that name
  std::uint64_t foreign_key = 0;  // the key is another translator's
  std::uint64_t elsewhere = 0;    // the endpoint is at an address of somebody else
  std::uint64_t device = 0;       // the device could not make or connect an endpoint
  std::uint64_t failed = 0;       // endpoints that have failed
  std::uint64_t silent = 0;       // endpoints closed because no request came
  std::uint64_t revoked = 0;  // endpoints closed because their translator may not write any more
  std::uint64_t flood = 0;    // requests dropped because their sender had too many waiting
};

struct KeptStore {
  StoreSpec spec;
  std::unique_ptr<store::StoreFile> file;
};

class StoreServer {
 public:
  static constexpr int kAnswersWaiting = 8;    // for a translator that does not read them
  static constexpr int kRequestsAtATime = 64;  // before the endpoints get their turn

  // REQUIRES: the device outlives the server.
  static Result<std::unique_ptr<StoreServer>> create(const StoreServerOptions& options,
                                                     rdma::Device& device,
                                                     std::vector<KeptStore> stores);

  // Applies the keys of a new configuration. A store whose key has changed, or which is not in the
  // configuration any more, loses its connection. Other differences have no effect.
  void permit(const StoreSpecs& specs);

  SocketAddress address() const { return socket_->address(); }
  std::vector<int> descriptors() const;  // call work() when one of them is readable
  Nanos nextWake() const;
  void work(Nanos now);  // never blocks, except while memory is registered

  // A request as it arrived, and what is known about its sender.
  struct Asked {
    std::string_view route;
    std::string_view bytes;
    std::optional<net::CurveKey> key;  // nullopt without a gate
    std::string_view peer;             // its address, or "" if unknown
  };
  // Returns the answer. With nullopt it follows when the endpoint has connected or failed to.
  std::optional<store::ConnectReply> answer(const Asked& asked, Nanos now);

  bool connected(std::string_view translator) const;
  StoreCounters counters() const;

 private:
  // A translator's connection. The members are destroyed from the last to the first.
  struct Link {
    std::unique_ptr<rdma::Domain> domain;
    std::unique_ptr<rdma::MemoryRegion> region;
    std::unique_ptr<rdma::RcEndpoint> endpoint;
    store::ConnectRequest request;
    std::string route;  // where the answer goes
    Nanos heard = 0;
    bool connecting = true;  // whether the answer is still due
  };
  struct Entry {
    KeptStore kept;
    std::optional<Link> link;
    bool barred = false;  // the store is not in the configuration any more
  };

  StoreServer(const StoreServerOptions& options, rdma::Device& device)
      : options_(options), device_(device) {}
  void allowKeys();
  void revoke(Entry& entry);
  void take(const net::ZmqRouter::Message& message, Nanos now);
  std::optional<store::Refused> refusalFor(const Asked& asked,
                                           const store::ConnectRequest& request);
  Status checkPeer(const Asked& asked, const rdma::RcAddress& peer) const;
  std::optional<store::ConnectReply> connect(Entry& entry, const Asked& asked,
                                             const store::ConnectRequest& request, Nanos now);
  Result<Link> makeLink(const Entry& entry, const store::ConnectRequest& request);
  store::Connected describe(const Entry& entry) const;
  void pollLink(Entry& entry, Nanos now);
  void send(const std::string& route, const store::ConnectReply& reply);

  const StoreServerOptions options_;
  rdma::Device& device_;
  std::unique_ptr<net::ZmqRouter> socket_;
  std::map<std::string, Entry, std::less<>> entries_;  // keyed by the translator's name
  rdma::RcEvents events_;
  StoreCounters counters_;
};

}  // namespace pingloom::collector
