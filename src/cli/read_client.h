// Asks a `pingloom read --serve` for a region over TCP; see docs/read-exchange.md.
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
  std::uint64_t pattern = 0;  // seed of the contents (read_pattern.h); 0 if they are unknown
  std::uint32_t rkey = 0;
  std::string device;  // the server's device
  UniqueFd control;    // the server keeps its endpoint as long as this socket is open
};

// Offers `own`, this side's endpoint, and waits a few seconds at most, or until `stop` is readable.
// The error says what the user can do.
Result<RemoteRegion> askForRegion(const IpAddress& source, const SocketAddress& server,
                                  const std::string& region, const rdma::RcAddress& own, int stop);

wire::ReadExchange exchangeOf(const rdma::RcAddress& address);
rdma::RcAddress addressOf(const wire::ReadExchange& exchange);

}  // namespace pingloom::cli
