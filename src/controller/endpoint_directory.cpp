#include "controller/endpoint_directory.h"

#include "common/log.h"
#include "control.pb.h"
#include "plan/endpoint_codec.h"

namespace pingloom::controller {

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

// All but the newest: nearly every agent holds the version before this one.
void EndpointDirectory::forgetRemoved() {
  oldest_base_ = version_ - 1;
  std::erase_if(removed_, [this](const auto& entry) { return entry.second < version_; });
}

std::shared_ptr<const std::string> EndpointDirectory::updateFrom(std::uint64_t held,
                                                                 bool complete) {
  const std::uint64_t base = knows(held) ? held : 0;
  complete = complete && base == 0;
  if (const auto found = updates_.find({base, complete}); found != updates_.end()) {
    return found->second;
  }
  auto made = std::make_shared<const std::string>(encode(base, complete));
  if (updates_.size() >= kMaxUpdates) updates_.erase(updates_.begin());
  updates_[{base, complete}] = made;
  return made;
}

std::string EndpointDirectory::encode(std::uint64_t base, bool complete) const {
  wire::ControllerMessage message;
  wire::EndpointUpdate& update = *message.mutable_endpoints();
  update.set_controller(controller_);
  update.set_version(version_);
  update.set_base_version(base);
  update.set_complete(complete);
  for (const auto& [address, entry] : entries_) {
    if (entry.since > base) plan::encode(entry.endpoint, *update.add_changed());
  }
  if (complete) return message.SerializeAsString();
  for (const auto& [address, since] : removed_) {
    if (since > base) update.add_removed(address.wire());
  }
  return message.SerializeAsString();
}

}  // namespace pingloom::controller
