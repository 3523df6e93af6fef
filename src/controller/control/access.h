// Decides what a key may do, by the rules of docs/keys.md: an agent's key may register only its own
// host and addresses. It runs on the control thread; other threads may use the gate.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "common/time.h"
#include "control.pb.h"
#include "controller/control/registry.h"
#include "keys/authorized_keys.h"
#include "keys/join_book.h"
#include "net/peer_gate.h"

namespace pingloom::controller {

class Access {
 public:
  Access(std::shared_ptr<net::PeerGate> gate, std::shared_ptr<const keys::AuthorizedKeys> list,
         std::shared_ptr<const keys::JoinBook> joins = nullptr, Nanos now_utc = 0)
      : gate_(std::move(gate)) {
    set(std::move(list), std::move(joins), now_utc);
  }

  // Replaces the authorised keys and the join tokens. The gate uses them when this returns.
  void set(std::shared_ptr<const keys::AuthorizedKeys> list,
           std::shared_ptr<const keys::JoinBook> joins = nullptr, Nanos now_utc = 0);
  // From now on messages without a key are those of agents that have none.
  void letInWithoutKeys() { without_keys_ = true; }
  // From now on controllers with this one's key may connect.
  void letInControllers(Nanos now_utc) {
    for_controllers_ = true;
    setGate(now_utc);
  }
  // Closes the gate to tokens that have expired.
  void runDue(Nanos now_utc);
  // Tells whether this is the key of a join token, which may ask to join and nothing else.
  bool joins(const net::CurveKey& key) const { return tokens_.contains(key); }

  // Tells whether this is the controller's own key, which others that share the history use, too.
  // It may ask them to tell what their agents say, and nothing else.
  bool isOwn(const net::CurveKey& key) const { return key == gate_->own().public_key; }

  struct Denial {
    net::PeerRefusal reason = net::PeerRefusal::kUnknownKey;
    std::string text;
  };
  // Returns nullopt if the key may speak. The check is needed because a connection may be older
  // than the revocation of its key.
  std::optional<Denial> maySpeak(const std::optional<net::CurveKey>& key) const;
  // `known` is the agent that has the requested host id, or nullptr.
  std::optional<Denial> mayRegister(const std::optional<net::CurveKey>& key,
                                    const wire::Register& request, const Agent* known) const;
  // Tells whether the agent may keep its registration.
  std::optional<Denial> mayStay(const AgentInfo& agent) const;
  // Counts the denial, and logs it unless `from` was logged lately.
  void deny(const Denial& denial, std::string_view from, Nanos now_mono) {
    gate_->refuse(denial.reason, from, denial.text, now_mono);
  }

  // Returns a ControllerMessage with the collectors' keys and addresses. The object is replaced
  // when they change.
  const std::shared_ptr<const std::string>& collectors() const { return collectors_; }

 private:
  std::optional<Denial> mayHave(const keys::AuthorizedKey& entry, const IpAddress& address) const;
  std::optional<Denial> mayPointAt(const keys::AuthorizedKey& entry,
                                   const plan::Endpoint& endpoint) const;
  std::optional<Denial> mayBe(const keys::AuthorizedKey& entry, const std::string& host,
                              const Agent* known) const;
  // What an agent without a key may have: nothing that belongs to a key.
  std::optional<Denial> mayRegisterWithoutKey(const wire::Register& request) const;
  std::optional<Denial> isFree(const IpAddress& address) const;
  void encodeCollectors();
  void setGate(Nanos now_utc);

  const std::shared_ptr<net::PeerGate> gate_;
  std::shared_ptr<const keys::AuthorizedKeys> list_;
  std::shared_ptr<const keys::JoinBook> book_;                   // nullptr: nobody can join
  std::unordered_set<net::CurveKey, net::CurveKeyHash> tokens_;  // those that are valid
  Nanos next_expiry_utc_ = kNever;
  bool without_keys_ = false;
  bool for_controllers_ = false;
  std::shared_ptr<const std::string> collectors_;
};

}  // namespace pingloom::controller
