// Creates an RC endpoint.
#include <fmt/format.h>

#include <algorithm>

#include "common/random.h"
#include "rdma/verbs/event_descriptor.h"
#include "rdma/verbs/queue_pair.h"
#include "rdma/verbs/verbs_rc_endpoint.h"

namespace pingloom::rdma::verbs {
namespace {

constexpr std::uint8_t kMaxTimeout = 31;
constexpr std::uint8_t kMaxRetries = 7;

Result<std::uint32_t> chooseMtu(const PortDetails& port, std::uint32_t wanted,
                                const std::string& entity) {
  if (wanted == 0) return port.active_mtu;
  if (!isPathMtu(wanted)) {
    return makeError(entity, fmt::format("an MTU of {} is none of 256, 512, .. 4096", wanted));
  }
  if (wanted <= port.active_mtu) return wanted;
  return makeError(entity, fmt::format("an MTU of {} is above the port's active MTU {}", wanted,
                                       port.active_mtu));
}

Status checkOptions(const RcOptions& options, const ibv_device_attr& limits,
                    const std::string& entity) {
  if (options.timeout == 0 || options.timeout > kMaxTimeout) {
    return makeError(entity, fmt::format("a timeout of {} is not 1 to 31", options.timeout));
  }
  if (options.retries > kMaxRetries || options.rnr_retries > kMaxRetries) {
    return makeError(entity, "there are at most 7 retries");
  }
  const auto most = static_cast<std::uint32_t>(std::max(1, limits.max_qp_wr));
  if (options.depth == 0 || options.depth > most || options.immediates > most) {
    return makeError(entity, fmt::format("a queue of {} requests and {} immediates: the device "
                                         "has 1 to {}",
                                         options.depth, options.immediates, most));
  }
  return {};
}

std::uint8_t fewer(std::uint8_t wanted, int device) {
  return static_cast<std::uint8_t>(std::clamp<int>(device, 0, wanted));
}

}  // namespace

Result<std::unique_ptr<RcEndpoint>> VerbsRcEndpoint::create(std::shared_ptr<RcDomain> domain,
                                                            const PortDetails& port,
                                                            const GidDetails& gid,
                                                            const RcOptions& options) {
  const std::string& entity = domain->entity();
  const bool roce = port.link_layer == LinkLayer::kEthernet;
  const auto mtu = chooseMtu(port, options.mtu, entity);
  if (!mtu) return tl::unexpected(mtu.error());
  ibv_device_attr limits{};
  if (const int failed = ibv_query_device(domain->context().get(), &limits); failed != 0) {
    return makeVerbsError(entity, "cannot ask the device for its limits", failed);
  }
  if (auto checked = checkOptions(options, limits, entity); !checked) {
    return tl::unexpected(checked.error());
  }
  auto completions = CompletionQueue::create(domain->context().get(), {},
                                             options.depth + options.immediates, false, entity);
  if (!completions) return tl::unexpected(completions.error());
  auto pair = createRcQueuePair(domain->protection(), completions->get(),
                                {options.depth, options.immediates}, entity);
  if (!pair) return tl::unexpected(pair.error());
  if (auto made = initialiseRc(pair->get(), port.number, options, entity); !made) {
    return tl::unexpected(made.error());
  }
  auto events =
      createEventDescriptor({completions->descriptor(), domain->context().descriptor()}, entity);
  if (!events) return tl::unexpected(events.error());

  const PathDefaults path{.port = port.number,
                          .gid_index = gid.index,
                          .service_level = options.service_level,
                          .by_lid = !roce,
                          .global = roce,
                          .flow_label = options.flow_label,
                          .gid_choices = {}};
  RcAddress address;
  address.gid = gid.gid;
  address.lid = roce ? std::uint16_t{0} : port.lid;
  address.qpn = (*pair)->qp_num;
  address.psn = static_cast<std::uint32_t>(randomU64()) & kPsnMask;
  address.mtu = *mtu;
  address.reads = fewer(options.reads, limits.max_qp_rd_atom);
  auto parts =
      std::make_shared<RcParts>(std::move(domain), std::move(*completions), std::move(*pair));
  std::unique_ptr<VerbsRcEndpoint> made(new VerbsRcEndpoint(
      std::move(parts), options, path, fewer(options.reads, limits.max_qp_init_rd_atom), address,
      std::move(*events)));
  Status ready = made->receives_.repost(made->queuePair());
  if (ready && !options.busy) ready = made->parts_->completions.arm();
  if (!ready) return makeError(made->domain().entity(), ready.error().reason);
  made->armed_ = !options.busy;
  return made;
}

Status VerbsRcEndpoint::check(const RcAddress& peer) const {
  const std::string& entity = domain().entity();
  if (state_ != RcState::kNew) {
    return makeError(entity, fmt::format("the endpoint is {}, not new", name(state_)));
  }
  if (!isPathMtu(peer.mtu)) {
    return makeError(entity,
                     fmt::format("the peer's MTU of {} is none of 256, 512, .. 4096", peer.mtu));
  }
  if (peer.qpn == 0 || peer.qpn > kPsnMask || peer.psn > kPsnMask) {
    return makeError(entity, "the peer's queue pair and sequence numbers have 24 bits");
  }
  if (path_.global && peer.gid.isZero()) return makeError(entity, "the peer has no address");
  return {};
}

}  // namespace pingloom::rdma::verbs
