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

plan::AddressList namedByRdma(const plan::Plan& plan) {
  plan::AddressList named;
  for (const plan::ProbeSpec& probe : plan.probes) {
    if (probe.protocol != Protocol::kRdma) continue;
    for (const std::string* list : {&probe.sources, &probe.destinations}) {
      const plan::AddressList& some = plan.list(*list);
      named.insert(named.end(), some.begin(), some.end());
    }
  }
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  return named;
}

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
      due_mono_(settle_mono_) {}

EndpointPush::~EndpointPush() {
  if (save_due_mono_ != kNever) save();
}

void EndpointPush::setPlan(const plan::Plan& plan, Instant now) {
  plan::AddressList next = namedByRdma(plan);
  plan::AddressList others;
  std::set_symmetric_difference(named_.begin(), named_.end(), next.begin(), next.end(),
                                std::back_inserter(others));
  named_ = std::move(next);
  if (others.empty()) return;
  changed_.insert(others.begin(), others.end());
  gather(now);
}

void EndpointPush::changed(const std::vector<IpAddress>& addresses, Instant now) {
  const std::size_t before = changed_.size();
  for (const IpAddress& address : addresses) {
    if (plan::contains(named_, address)) changed_.insert(address);
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
  for (const IpAddress& address : changed_) update(address);
  changed_.clear();
  if (directory_.commit()) save_due_mono_ = std::min(save_due_mono_, now.mono + kSavePause);
  due_mono_ = settled_ ? kNever : settle_mono_;
  pushAll(now);
}

// Removes the agents that have not registered again.
void EndpointPush::settle() {
  settled_ = true;
  for (const IpAddress& address : directory_.addresses()) changed_.insert(address);
}

void EndpointPush::update(const IpAddress& address) {
  const bool named = plan::contains(named_, address);
  const plan::Endpoint* endpoint = named ? registry_.endpoint(address) : nullptr;
  if (named && endpoint == nullptr && foreign_ != nullptr) endpoint = foreign_->find(address);
  const bool may_come_back = named && !settled_ && !registry_.presence(address).known;
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

void EndpointPush::registered(Agent& agent, const wire::Register& request) const {
  const bool ours = request.endpoints_controller() == directory_.controller();
  agent.endpoints_version = ours ? request.endpoints_version() : 0;
  agent.endpoints_any = request.endpoints_controller() != 0;
}

bool EndpointPush::lacks(const Agent& agent) const {
  if (agent.endpoints_version == directory_.version()) return false;
  const bool of_another = agent.endpoints_any && agent.endpoints_version == 0;
  return of_another ? settled_ : agent.endpoints_any || !directory_.empty();
}

void EndpointPush::push(Agent& agent) {
  if (!changed_.empty() || !lacks(agent)) return;
  // If the connection is full, the next heartbeat retries.
  if (!socket_.send(agent.route, directory_.updateFrom(agent.endpoints_version))) return;
  agent.endpoints_version = directory_.version();
  agent.endpoints_any = true;
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
