// Options that several commands have, checked.
#pragma once

#include <boost/program_options/variables_map.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "rdma/open_device.h"

namespace pingloom::cli {

// --source; nullopt where it was not given.
Result<std::optional<IpAddress>> sourceOption(const boost::program_options::variables_map& values);

// The host's address, of the source's family where there is one.
Result<IpAddress> resolve(const std::string& host, const std::optional<IpAddress>& source);

// Where this host may be asked: the source, or all addresses that an agent would take for its own;
// never none. `option`: which needs one, for the error.
Result<std::vector<IpAddress>> ownAddresses(const std::optional<IpAddress>& source,
                                            const char* option);

// REQUIRES an option of type std::int64_t.
Result<std::uint32_t> numberOption(const boost::program_options::variables_map& values,
                                   const char* name, std::uint32_t least, std::uint32_t most);

// "auto", "soft", "mlx5_0", "mlx5_0/2", as in the agent's configuration.
Result<rdma::DeviceOptions> deviceOptions(const std::string& text);

}  // namespace pingloom::cli
