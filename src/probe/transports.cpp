#include "probe/rdma/rdma_transport.h"
#include "probe/tcp/tcp_transport.h"
#include "probe/transport.h"
#include "probe/udp/udp_transport.h"

namespace pingloom::probe {

Result<std::vector<std::unique_ptr<Transport>>> makeTransports(const AgentContext& context) {
  std::vector<std::unique_ptr<Transport>> made;
  for (const auto make : {makeUdpTransport, makeTcpTransport, makeRdmaTransport}) {
    auto transport = make(context);
    if (!transport) return tl::unexpected(transport.error());
    made.push_back(std::move(*transport));
  }
  return made;
}

}  // namespace pingloom::probe
