// The thread beside a CURVE ROUTER that answers libzmq's question at each handshake, whether the
// key may come in (ZAP 1.0, in the ROUTER's own context), and that counts those who do not even get
// that far: without CURVE, for another server's key, malformed. Its one lasting state is the
// address of each connection.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "common/error.h"
#include "net/peer_gate.h"

namespace pingloom::net {

class GateKeeper {
 public:
  // Before `router` binds; it has to be one of `context`'s. The context is shut down before the
  // keeper is destroyed: that ends the thread.
  static Result<std::unique_ptr<GateKeeper>> start(void* context, void* router,
                                                   std::shared_ptr<PeerGate> gate);
  ~GateKeeper();
  GateKeeper(const GateKeeper&) = delete;
  GateKeeper& operator=(const GateKeeper&) = delete;

 private:
  GateKeeper(void* context, std::shared_ptr<PeerGate> gate)
      : context_(context), gate_(std::move(gate)) {}
  Status open(void* context, void* router);
  void run();
  bool answerQuestion();  // false: the context ends, or nobody could be asked any more
  bool takeEvent();

  struct Close {
    void operator()(void* socket) const;
  };
  void* const context_;
  const std::shared_ptr<PeerGate> gate_;
  std::unique_ptr<void, Close> questions_;
  std::unique_ptr<void, Close> events_;
  std::map<int, std::string> peers_;   // by descriptor; at most as many as may be open
  std::optional<PeerRefusal> failed_;  // the handshake whose connection is told of next
  std::thread thread_;
};

}  // namespace pingloom::net
