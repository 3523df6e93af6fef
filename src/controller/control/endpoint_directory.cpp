#include "controller/control/endpoint_directory.h"

#include <algorithm>

#include "common/log.h"
#include "common/random.h"
#include "control.pb.h"

namespace pingloom::controller {

EndpointDirectory::EndpointDirectory(const plan::HeldEndpoints& kept)
    : controller_(kept.version.controller) {
  if (controller_ == 0) {
    controller_ = std::max<std::uint64_t>(randomU64(), 1);
    return;
  }
  kept_base_ = kept.version.number;
  version_ = oldest_base_ = first_ = kept_base_ + kRestartGap;
  for (const auto& [address, endpoint] : *kept.table) {
    entries_.emplace(address, Entry{endpoint, kept_base_});
  }
}

void EndpointDirectory::set(const IpAddress& address, const plan::Endpoint* endpoint) {
  const auto found = entries_.find(address);
  if (endpoint == nullptr) {
    if (found == entries_.end()) return;
    entries_.erase(found);
    removed_[address] = version_ + 1;
    changing_.push_back(address);
    return;
  }
  if (found != entries_.end()) {
    if (found->second.endpoint == *endpoint) return;
    found->second = {*endpoint, version_ + 1};
  } else if (entries_.size() < plan::kMaxEndpoints) {
    entries_.emplace(address, Entry{*endpoint, version_ + 1});
    removed_.erase(address);
  } else {
    if (!std::exchange(full_logged_, true)) {
      log::error("more than {} rdma endpoints: {} and others are not probed", plan::kMaxEndpoints,
                 address.text());
    }
    return;
  }
  changing_.push_back(address);
}

bool EndpointDirectory::commit() {
  if (changing_.empty()) return false;
  ++version_;
  changed_ = std::exchange(changing_, {});
  forgetUpdates();
  if (removed_.size() > kMaxRemoved) forgetRemoved();
  return true;
}

void EndpointDirectory::forgetUpdates() {
  updates_.clear();
  update_bytes_ = 0;
}

// Forgets all but the newest removals, because nearly every agent holds the previous version.
void EndpointDirectory::forgetRemoved() {
  oldest_base_ = version_ - 1;
  kept_base_ = 0;
  std::erase_if(removed_, [this](const auto& entry) { return entry.second < version_; });
}

plan::HeldEndpoints EndpointDirectory::held() const {
  auto table = std::make_shared<plan::EndpointTable>();
  table->reserve(entries_.size());
  for (const auto& [address, entry] : entries_) table->emplace(address, entry.endpoint);
  return {{controller_, version_}, std::move(table)};
}

std::vector<IpAddress> EndpointDirectory::addresses() const {
  std::vector<IpAddress> all;
  all.reserve(entries_.size());
  for (const auto& [address, entry] : entries_) all.push_back(address);
  return all;
}

bool EndpointDirectory::knows(std::uint64_t held) const {
  if (held == 0 || held > version_) return false;
  return held >= oldest_base_ || held == kept_base_;
}

std::shared_ptr<const std::string> EndpointDirectory::updateFrom(const HeldTable& held,
                                                                 const EndpointScope& scope) {
  const bool known = held.scope != nullptr && knows(held.right_at) &&
                     held.scope->addresses.has_value() == scope.addresses.has_value();
  const HeldTable base = known ? held : HeldTable{};
  const Key key{base.version, known ? base.scope->hash : 0, base.right_at, scope.hash};
  if (scope.shared) {
    if (const auto found = updates_.find(key); found != updates_.end()) return found->second;
  }
  const std::string bytes = encode(base, scope);
  auto made = bytes.empty() ? nullptr : std::make_shared<const std::string>(bytes);
  if (!scope.shared) return made;
  if (updates_.size() >= kMaxUpdates || update_bytes_ >= kMaxUpdateBytes) forgetUpdates();
  if (made != nullptr) update_bytes_ += made->size();
  updates_[key] = made;
  return made;
}

// Returns "" if there is nothing to tell. Agents that hold a version of an earlier run are told the
// present one all the same: the next run may not know theirs.
std::string EndpointDirectory::encode(const HeldTable& held, const EndpointScope& scope) const {
  const bool whole = held.version == 0;
  const bool same = !whole && held.scope->hash == scope.hash;
  wire::ControllerMessage message;
  wire::EndpointUpdate& update = *message.mutable_endpoints();
  update.set_controller(controller_);
  update.set_version(version_);
  update.set_base_version(held.version);
  update.set_scope(scope.hash);
  visitScope(held.right_at, scope, same, [&](const IpAddress& address) {
    const auto found = entries_.find(address);
    if (found == entries_.end()) return;
    const bool had = !whole && (same || held.scope->contains(address));
    if (!had || found->second.since > held.right_at) {
      plan::encode(found->second.endpoint, *update.add_changed());
    }
  });
  if (!whole) addRemoved(held, scope, update);
  const bool changes = update.changed_size() + update.removed_size() > 0;
  return changes || !same || held.version < first_ ? message.SerializeAsString() : "";
}

// Calls visit(address) for what may have changed in a scope since a version, and if the scope is
// not the same as at that version, for all that is in it.
template <typename Visit>
void EndpointDirectory::visitScope(std::uint64_t since, const EndpointScope& scope, bool same,
                                   Visit&& visit) const {
  if (same && since + 1 >= version_) {
    for (const IpAddress& address : changed_) {
      if (scope.contains(address)) visit(address);
    }
  } else if (scope.addresses) {
    for (const IpAddress& address : *scope.addresses) visit(address);
  } else {
    for (const auto& [address, entry] : entries_) visit(address);
  }
}

void EndpointDirectory::addRemoved(const HeldTable& held, const EndpointScope& scope,
                                   wire::EndpointUpdate& update) const {
  if (!held.scope->addresses) {
    for (const auto& [address, since] : removed_) {
      if (since > held.right_at) update.add_removed(address.wire());
    }
    return;
  }
  const bool same = held.scope->hash == scope.hash;
  visitScope(held.right_at, *held.scope, same, [&](const IpAddress& address) {
    const auto removed = removed_.find(address);
    const bool gone = removed != removed_.end() && removed->second > held.right_at;
    if (gone || (!scope.contains(address) && entries_.count(address) != 0)) {
      update.add_removed(address.wire());
    }
  });
}

}  // namespace pingloom::controller
