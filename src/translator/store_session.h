// The connection to the collector that keeps this translator's store: the control channel, and the
// endpoint that writes. It starts again with a pause after every failure, and logs each new reason
// once. It belongs to the device's thread; time is passed in.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/address.h"
#include "common/backoff.h"
#include "common/error.h"
#include "common/time.h"
#include "net/zmq_dealer.h"
#include "rdma/device.h"
#include "store/store_messages.h"
#include "translator/counters.h"
#include "translator/shadow.h"
#include "translator/store_writer.h"

namespace pingloom::translator {

struct SessionOptions {
  std::string name;                                // names the store
  std::string collector;                           // HOST:PORT
  IpAddress source;                                // control connections leave from here
  std::optional<net::DealerOptions::Curve> curve;  // nullopt stands for plaintext
  std::uint64_t incarnation = 0;
};

class StoreSession {
 public:
  static constexpr Nanos kAnswerWithin = 2 * kSecond;
  static constexpr Nanos kReopenAfter = 10 * kSecond;  // without a connection

  // REQUIRES: device, context and counters outlive this.
  static Result<std::unique_ptr<StoreSession>> create(SessionOptions options, rdma::Device& device,
                                                      net::ZmqContext& context, Counters& counters);

  void work(Nanos now);
  Nanos nextWake() const { return wake_; }
  int linkDescriptor() const { return link_.descriptor(); }  // edge-triggered; may be -1
  int writerDescriptor() const;                              // may be -1

  // Returns where reports are placed: nullptr until a collector has named the store, or while the
  // store's content is being read. It stays while the connection is lost.
  Shadow* shadow();
  void flush(const store::WriterStatus& status);
  void flushLists(store::ListFlush which);
  bool serving() const { return state_ == State::kServing; }

 private:
  enum class State : std::uint8_t { kWaiting, kLinking, kAsking, kConnecting, kServing };

  StoreSession(SessionOptions options, net::ZmqContext& context, Counters& counters)
      : options_(std::move(options)), context_(context), counters_(counters) {}
  void openLink(Nanos now);
  void restart(Nanos now, const Error& why);
  void report(const Error& why);
  void step(Nanos now);
  void ask(Nanos now);
  void takeReplies(Nanos now);
  Status take(const store::ConnectReply& reply, Nanos now);
  Status takeConnected(const store::Connected& connected, Nanos now);
  void serve(Nanos now);
  void setWake(Nanos now);

  const SessionOptions options_;
  net::ZmqContext& context_;
  Counters& counters_;
  std::unique_ptr<rdma::Domain> domain_;
  std::unique_ptr<Shadow> shadow_;
  bool restored_ = false;                // the shadow is what the store holds
  std::unique_ptr<StoreWriter> writer_;  // destroyed before what it writes
  net::ZmqDealer link_;
  State state_ = State::kWaiting;
  Nanos link_opened_ = 0;  // 0: not yet
  Nanos resume_ = 0;       // when a pause ends
  Nanos asked_ = 0;        // 0: no request is outstanding
  Nanos next_ask_ = 0;     // the next sign of life
  std::uint64_t epoch_ = 0;
  Nanos wake_ = 0;
  Backoff backoff_{100 * kMillisecond, 2 * kSecond};
  std::string said_;
};

}  // namespace pingloom::translator
