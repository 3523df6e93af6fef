// The thread beside a CURVE ROUTER that answers libzmq's question at each handshake, whether the
// key may come in (ZAP 1.0, in the ROUTER's own context), and that counts the peers which fail
// before that question: without CURVE, for another server's key, malformed. Between handshakes it
// keeps only the address of each connection.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "common/error.h"
#include "net/peer_gate.h"
#include "net/zmq_monitor.h"

namespace pingloom::net {

class GateKeeper {
 public:
  // Call it before `router`, a socket of `context`, binds. With `plaintext` it admits every peer of
  // a listener that does not encrypt. The context is shut down before the keeper is destroyed,
  // which ends the thread.
  static Result<std::unique_ptr<GateKeeper>> start(zmq::context_t& context, zmq::socket_t& router,
                                                   std::shared_ptr<PeerGate> gate, bool plaintext);
  ~GateKeeper();
  GateKeeper(const GateKeeper&) = delete;
  GateKeeper& operator=(const GateKeeper&) = delete;

 private:
  // Throws zmq::error_t, as all below.
  GateKeeper(zmq::context_t& context, zmq::socket_t& router, std::shared_ptr<PeerGate> gate,
             bool plaintext);
  void run();
  void answerUntilFailure();
  void answerQuestion();
  void takeEvent();

  zmq::context_t& context_;
  const std::shared_ptr<PeerGate> gate_;
  const bool plaintext_;
  zmq::socket_t questions_;
  std::optional<ZmqMonitor> handshakes_;  // nullopt: the thread has ended
  std::map<int, std::string> peers_;      // by descriptor; at most as many as may be open
  // Why the connection failed whose end is reported next.
  std::optional<PeerRefusal> failed_;
  std::thread thread_;
};

}  // namespace pingloom::net
