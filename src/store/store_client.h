// Asks a collector for its stores over the control channel (docs/store-control.md), as somebody who
// wants to read them. Calls wait for the answer. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "net/zmq_dealer.h"
#include "store/store_messages.h"

namespace pingloom::store {

struct StoreClientOptions {
  std::string collector;                           // HOST:PORT
  IpAddress source;                                // the address of our RDMA device
  std::optional<net::DealerOptions::Curve> curve;  // nullopt stands for plaintext
};

class StoreClient {
 public:
  static constexpr Nanos kAnswerWithin = 5 * kSecond;
  static constexpr Nanos kLeaveWithin = kSecond;

  // Starts to connect. REQUIRES: open() is called once, before everything else.
  Status open(const StoreClientOptions& options);
  const std::string& collector() const { return options_.collector; }

  // Returns the names of the stores that may be read.
  Result<std::vector<std::string>> list();
  Result<Connected> connect(const ConnectRequest& request);
  // Ends what was connected by this request, for which it waits kLeaveWithin at most.
  void leave(const ConnectRequest& request);
  // Gives a sign of life for what was connected by this request. It does not wait.
  void keepAlive(const ConnectRequest& request);

 private:
  Result<ConnectReply> ask(const Request& request, Nanos within);
  Result<ConnectReply> receive(Nanos until);
  Error noAnswer() const;

  StoreClientOptions options_;
  net::ZmqContext context_;
  net::ZmqDealer link_;
  std::size_t unread_ = 0;  // answers to signs of life
};

}  // namespace pingloom::store
