#include "probe/rdma/transport.h"
#include "probe/tcp/transport.h"
#include "probe/transport.h"
#include "probe/udp/transport.h"

namespace pingloom::probe {

Result<std::vector<std::unique_ptr<Transport>>> makeTransports(const AgentContext& context) {
  std::vector<std::unique_ptr<Transport>> made;
  for (const auto make : {udp::makeTransport, tcp::makeTransport, rdma_ud::makeTransport}) {
    auto transport = make(context);
    if (!transport) return tl::unexpected(transport.error());
    made.push_back(std::move(*transport));
  }
  return made;
}

}  // namespace pingloom::probe
