// Asks a `pingloom read --serve` for a region, over TCP; docs/read-exchange.md.
#pragma once

#include <cstdint>
#include <string>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "rdma/rc_endpoint.h"
#include "wire/read_exchange.h"

namespace pingloom::cli {

struct RemoteRegion {
  rdma::RcAddress peer;  // the endpoint to connect to
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint64_t pattern = 0;  // 0: its contents are not known
  std::uint32_t rkey = 0;
  std::string device;  // the server's
  UniqueFd control;    // the server keeps its endpoint as long as this is open
};

// `own`: this side's endpoint. At most some seconds, or until `stop` is readable. The error says
// what to do.
Result<RemoteRegion> askForRegion(const IpAddress& source, const SocketAddress& server,
                                  const std::string& region, const rdma::RcAddress& own, int stop);

wire::ReadExchange exchangeOf(const rdma::RcAddress& address);
rdma::RcAddress addressOf(const wire::ReadExchange& exchange);

}  // namespace pingloom::cli
