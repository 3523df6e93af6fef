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
  version_ = oldest_base_ = kept_base_ + kRestartGap;
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
    changed_ = true;
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
  changed_ = true;
}

bool EndpointDirectory::commit() {
  if (!std::exchange(changed_, false)) return false;
  ++version_;
  updates_.clear();
  if (removed_.size() > kMaxRemoved) forgetRemoved();
  return true;
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

std::shared_ptr<const std::string> EndpointDirectory::updateFrom(std::uint64_t held) {
  const std::uint64_t base = knows(held) ? held : 0;
  if (const auto found = updates_.find(base); found != updates_.end()) return found->second;
  auto made = std::make_shared<const std::string>(encode(base));
  if (updates_.size() >= kMaxUpdates) updates_.erase(updates_.begin());
  updates_[base] = made;
  return made;
}

std::string EndpointDirectory::encode(std::uint64_t base) const {
  wire::ControllerMessage message;
  wire::EndpointUpdate& update = *message.mutable_endpoints();
  update.set_controller(controller_);
  update.set_version(version_);
  update.set_base_version(base);
  for (const auto& [address, entry] : entries_) {
    if (base == 0 || entry.since > base) plan::encode(entry.endpoint, *update.add_changed());
  }
  if (base == 0) return message.SerializeAsString();
  for (const auto& [address, since] : removed_) {
    if (since > base) update.add_removed(address.wire());
  }
  return message.SerializeAsString();
}

}  // namespace pingloom::controller
