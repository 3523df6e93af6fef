#include "controller/control/endpoint_push.h"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "common/file.h"
#include "common/log.h"
#include "control.pb.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxFileBytes = 64U << 20;

plan::HeldEndpoints load(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  const auto bytes = readFile(file, kMaxFileBytes);
  wire::EndpointUpdate update;
  if (bytes && update.ParseFromString(*bytes)) {
    if (auto held = plan::apply(update, {})) return std::move(*held);
  }
  log::warning("{}: the kept rdma endpoints cannot be used; waiting for the agents", file.string());
  return {};
}

}  // namespace

EndpointPush::EndpointPush(net::ZmqRouter& socket, Registry& registry, std::filesystem::path file,
                           Nanos started_mono, const ForeignEndpoints* foreign)
    : socket_(socket),
      registry_(registry),
      file_(std::move(file)),
      foreign_(foreign),
      settle_mono_(started_mono + kSettle),
      directory_(load(file_)),
      due_mono_(settle_mono_) {
  // The next run has to begin above this one's versions, even if this one ends within kSavePause.
  if (directory_.version() > 1) save();
}

EndpointPush::~EndpointPush() {
  if (save_due_mono_ != kNever) save();
}

void EndpointPush::setPlan(std::shared_ptr<const plan::Plan> plan, Instant now) {
  scopes_.setPlan(std::move(plan));
  for (const auto& [id, agent] : registry_.agents()) {
    agent->scope = agent->info.isHere() ? scopes_.of(agent->info) : nullptr;
  }
  takeNeeded(now);
  commit(now);
  gather(now);  // agents that cannot take it now
}

// Notes the addresses that have become needed, and those that are not needed any more.
void EndpointPush::takeNeeded(Instant now) {
  plan::AddressList next = scopes_.needed();
  plan::AddressList others;
  std::set_symmetric_difference(needed_.begin(), needed_.end(), next.begin(), next.end(),
                                std::back_inserter(others));
  needed_ = std::move(next);
  if (others.empty()) return;
  changed_.insert(others.begin(), others.end());
  gather(now);
}

void EndpointPush::changed(const std::vector<IpAddress>& addresses, Instant now) {
  const std::size_t before = changed_.size();
  for (const IpAddress& address : addresses) {
    if (plan::contains(needed_, address)) changed_.insert(address);
  }
  if (changed_.size() != before) gather(now);
}

void EndpointPush::gather(Instant now) {
  due_mono_ = std::min(due_mono_, std::max(now.mono + kCoalesce, pause_until_mono_));
}

void EndpointPush::runDue(Instant now) {
  if (now.mono >= save_due_mono_) save();
  if (now.mono < due_mono_) return;
  if (!settled_ && now.mono >= settle_mono_) settle();
  commit(now);
  due_mono_ = settled_ ? kNever : settle_mono_;
  pushAll(now);
}

void EndpointPush::commit(Instant now) {
  for (const IpAddress& address : changed_) update(address);
  changed_.clear();
  if (directory_.commit()) save_due_mono_ = std::min(save_due_mono_, now.mono + kSavePause);
}

// Removes the agents that have not registered again.
void EndpointPush::settle() {
  settled_ = true;
  for (const IpAddress& address : directory_.addresses()) changed_.insert(address);
}

void EndpointPush::update(const IpAddress& address) {
  const bool needed = plan::contains(needed_, address);
  const plan::Endpoint* endpoint = needed ? registry_.endpoint(address) : nullptr;
  if (needed && endpoint == nullptr && foreign_ != nullptr) endpoint = foreign_->find(address);
  const bool may_come_back = needed && !settled_ && !registry_.presence(address).known;
  if (endpoint != nullptr || !may_come_back) directory_.set(address, endpoint);
}

void EndpointPush::pushAll(Instant now) {
  const Nanos started = monotonicNow();
  for (const auto& [id, agent] : registry_.agents()) {
    if (agent->info.alive && !agent->route.empty()) push(*agent);
  }
  const Nanos took = monotonicNow() - started;
  pause_until_mono_ = now.mono + took + std::min(4 * took, kMaxCoalesce);
}

void EndpointPush::registered(Agent& agent, const wire::Register& request, Instant now) {
  if (scopes_.noteInfiniBand(agent.info)) takeNeeded(now);
  agent.scope = scopes_.of(agent.info);
  HeldTable& held = agent.held_endpoints;
  const bool ours = request.endpoints_controller() == directory_.controller();
  const bool same = agent.scope != nullptr && request.endpoints_scope() == agent.scope->hash;
  held.any = request.endpoints_controller() != 0;
  held.version = held.right_at = ours ? request.endpoints_version() : 0;
  held.scope = same ? agent.scope : nullptr;
}

bool EndpointPush::lacks(const Agent& agent) const {
  if (agent.scope == nullptr) return false;
  const HeldTable& held = agent.held_endpoints;
  const bool in_scope = held.scope != nullptr && held.scope->hash == agent.scope->hash;
  if (in_scope && held.right_at == directory_.version()) return false;
  const bool of_another = held.any && held.version == 0;
  return of_another ? settled_ : held.any || !directory_.empty();
}

void EndpointPush::push(Agent& agent) {
  if (!changed_.empty() || !lacks(agent)) return;
  HeldTable& held = agent.held_endpoints;
  if (const auto update = directory_.updateFrom(held, *agent.scope); update != nullptr) {
    // If the connection is full, the next heartbeat retries.
    if (!socket_.send(agent.route, update)) return;
    held = {true, directory_.version(), 0, agent.scope};
  }
  held.right_at = directory_.version();
}

void EndpointPush::save() {
  save_due_mono_ = kNever;
  const auto status = writeFileAtomic(file_, plan::encode(directory_.held()).SerializeAsString());
  if (!status && !std::exchange(failure_logged_, true)) {
    log::error("{}; a restarted controller learns the rdma endpoints from the agents",
               status.error().text());
  }
}

}  // namespace pingloom::controller
