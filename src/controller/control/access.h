// What a key may do here: an agent's registers its own host and addresses and nobody else's. The
// rules of docs/keys.md. The control thread; the gate is asked by others too.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/time.h"
#include "control.pb.h"
#include "controller/control/registry.h"
#include "keys/authorized_keys.h"
#include "net/peer_gate.h"

namespace pingloom::controller {

class Access {
 public:
  static constexpr std::size_t kMaxCollectors = 1024;  // those agents are told of

  Access(std::shared_ptr<net::PeerGate> gate, std::shared_ptr<const keys::AuthorizedKeys> list)
      : gate_(std::move(gate)) {
    set(std::move(list));
  }

  // From now on these. The gate knows it when this returns.
  void set(std::shared_ptr<const keys::AuthorizedKeys> list);

  struct Denial {
    net::PeerRefusal reason = net::PeerRefusal::kUnknownKey;
    std::string text;
  };
  // nullopt: it may. A connection may stand that was made when its key still was authorised.
  std::optional<Denial> maySpeak(const std::optional<net::CurveKey>& key) const;
  // `known`: the agent that has the host id that is asked for, or nullptr.
  std::optional<Denial> mayRegister(const net::CurveKey& key, const wire::Register& request,
                                    const Agent* known) const;
  // Whether it may still be what it is registered as.
  std::optional<Denial> mayStay(const AgentInfo& agent) const;
  // Counts it, and logs it unless `from` was heard of lately.
  void deny(const Denial& denial, std::string_view from, Nanos now_mono) {
    gate_->refuse(denial.reason, from, denial.text, now_mono);
  }

  // A ControllerMessage that tells agents the collectors' keys. Another object when they change.
  const std::shared_ptr<const std::string>& collectors() const { return collectors_; }

 private:
  std::optional<Denial> mayHave(const keys::AuthorizedKey& entry, const IpAddress& address) const;
  std::optional<Denial> mayPointAt(const keys::AuthorizedKey& entry,
                                   const plan::Endpoint& endpoint) const;
  std::optional<Denial> mayBe(const keys::AuthorizedKey& entry, const std::string& host,
                              const Agent* known) const;
  void encodeCollectors();

  const std::shared_ptr<net::PeerGate> gate_;
  std::shared_ptr<const keys::AuthorizedKeys> list_;
  std::shared_ptr<const std::string> collectors_;
};

}  // namespace pingloom::controller
