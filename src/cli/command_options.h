// Reads and checks the options that several commands share.
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

// Returns --source, or nullopt when it was not given.
Result<std::optional<IpAddress>> sourceOption(const boost::program_options::variables_map& values);

// Resolves `host`; when there is a source, the address is of the same family.
Result<IpAddress> resolve(const std::string& host, const std::optional<IpAddress>& source);

// Returns the addresses on which this host answers: the source, or every address that an agent
// would use. The list is never empty. `option` is the option that needs it; the error names it.
Result<std::vector<IpAddress>> ownAddresses(const std::optional<IpAddress>& source,
                                            const char* option);

// Returns the option as a number in [least, most].
// REQUIRES: the option has the type std::int64_t.
Result<std::uint32_t> numberOption(const boost::program_options::variables_map& values,
                                   const char* name, std::uint32_t least, std::uint32_t most);

// Parses "auto", "soft", "mlx5_0" or "mlx5_0/2", the forms of the agent's rdma.device.
Result<rdma::DeviceOptions> deviceOptions(const std::string& text);

}  // namespace pingloom::cli
