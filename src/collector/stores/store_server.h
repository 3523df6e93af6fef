// The server for translators and readers: a ZeroMQ ROUTER that gives the one translator of each
// store an RC endpoint, with which it writes the store, and readers endpoints that permit READ only
// (wire/store.proto, docs/store-control.md). It runs on one thread, that of the device.
//
// Before a translator gets its endpoint, the one that its store had before is closed and its rkey
// is dead, so a store never has two writers. A peer's endpoint is at the address of its TCP
// connection, so nobody can direct responses at others. A shared store has several translators,
// which can only add to it by atomics. Bounds: one translator for each store, or kMaxWriters of a
// shared one, and kMaxReaders in all; a connection without requests ends after store::kPatience. A
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
#include "collector/stores/store_link.h"
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
  std::uint64_t foreign_key = 0;  // the key is not the store's translator's, or no reader's
  std::uint64_t crowded = 0;      // there are kMaxReaders or kMaxWriters already
  std::uint64_t elsewhere = 0;    // the endpoint is at an address of somebody else
  std::uint64_t device = 0;       // the device could not make or connect an endpoint
  std::uint64_t failed = 0;       // endpoints that have failed
  std::uint64_t silent = 0;       // endpoints closed because no request came
  std::uint64_t revoked = 0;  // endpoints closed because their translator may not write any more
  std::uint64_t flood = 0;    // requests dropped because their sender had too many waiting
  std::uint64_t readers = 0;  // endpoints that readers have now
};

struct KeptStore {
  StoreSpec spec;
  std::unique_ptr<store::StoreFile> file;
};

class StoreServer {
 public:
  static constexpr int kAnswersWaiting = 8;    // for a translator that does not read them
  static constexpr int kRequestsAtATime = 64;  // before the endpoints get their turn
  static constexpr std::size_t kMaxReaders = 64;
  static constexpr std::size_t kMaxWriters = 16;  // of a shared store

  // REQUIRES: the device outlives the server.
  static Result<std::unique_ptr<StoreServer>> create(const StoreServerOptions& options,
                                                     rdma::Device& device,
                                                     std::vector<KeptStore> stores);

  // Applies the keys of a new configuration. A store whose key has changed loses its connection,
  // one that is not in the configuration any more its readers, too, and readers whose key is gone
  // lose theirs. Other differences have no effect.
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
  struct Entry {
    KeptStore kept;
    // At most one writer, or kMaxWriters of a shared store.
    std::vector<std::unique_ptr<StoreLink>> writers;
    std::vector<std::unique_ptr<StoreLink>> readers;  // at most kMaxReaders in all entries
    bool barred = false;  // the store is not in the configuration any more
  };

  StoreServer(const StoreServerOptions& options, rdma::Device& device)
      : options_(options), device_(device) {}
  void allowKeys();
  void permit(Entry& entry, const StoreSpec* spec);
  // Ends the connections of a store whose key is not among these.
  void revoke(std::vector<std::unique_ptr<StoreLink>>& links,
              const std::vector<net::CurveKey>& keys);
  void take(const net::ZmqRouter::Message& message, Nanos now);
  store::StoreNames namesFor(const Asked& asked) const;
  bool mayRead(const Entry& entry, const std::optional<net::CurveKey>& key) const;
  static std::vector<net::CurveKey> writersOf(const StoreSpec& spec);
  std::optional<store::Refused> refusalFor(const Asked& asked,
                                           const store::ConnectRequest& request);
  Status checkPeer(const Asked& asked, const rdma::RcAddress& peer) const;
  std::optional<store::ConnectReply> connect(Entry& entry, const Asked& asked,
                                             const store::ConnectRequest& request, Nanos now);
  store::Left leave(const store::ConnectRequest& began);
  // Returns the connection that the request is a sign of life for; nullptr if it asks for one.
  static StoreLink* linkOf(Entry& entry, const store::ConnectRequest& request);
  std::size_t readers() const;
  // Ends those that have failed or are silent.
  void poll(std::vector<std::unique_ptr<StoreLink>>& links, Nanos now);
  bool lives(StoreLink& link, Nanos now);
  void send(const std::string& route, const store::ConnectReply& reply);

  const StoreServerOptions options_;
  rdma::Device& device_;
  std::unique_ptr<net::ZmqRouter> socket_;
  std::map<std::string, Entry, std::less<>> entries_;  // keyed by the translator's name
  rdma::RcEvents events_;
  StoreCounters counters_;
};

}  // namespace pingloom::collector
