// Decides what a key may do, by the rules of docs/keys.md: an agent's key may register only its own
// host and addresses. It runs on the control thread; other threads may use the gate.
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
  static constexpr std::size_t kMaxCollectors = 1024;  // the maximum number that agents are told of

  Access(std::shared_ptr<net::PeerGate> gate, std::shared_ptr<const keys::AuthorizedKeys> list)
      : gate_(std::move(gate)) {
    set(std::move(list));
  }

  // Replaces the authorised keys. The gate uses them when this returns.
  void set(std::shared_ptr<const keys::AuthorizedKeys> list);

  struct Denial {
    net::PeerRefusal reason = net::PeerRefusal::kUnknownKey;
    std::string text;
  };
  // Returns nullopt if the key may speak. The check is needed because a connection may be older
  // than the revocation of its key.
  std::optional<Denial> maySpeak(const std::optional<net::CurveKey>& key) const;
  // `known` is the agent that has the requested host id, or nullptr.
  std::optional<Denial> mayRegister(const net::CurveKey& key, const wire::Register& request,
                                    const Agent* known) const;
  // Tells whether the agent may keep its registration.
  std::optional<Denial> mayStay(const AgentInfo& agent) const;
  // Counts the denial, and logs it unless `from` was logged lately.
  void deny(const Denial& denial, std::string_view from, Nanos now_mono) {
    gate_->refuse(denial.reason, from, denial.text, now_mono);
  }

  // Returns a ControllerMessage with the collectors' keys. The object is replaced when they change.
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
