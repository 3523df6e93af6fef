// Options that several commands have, checked.
#pragma once

#include <boost/program_options/variables_map.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "common/address.h"
#include "common/error.h"
#include "rdma/open_device.h"

namespace pingloom::cli {

// The host's address, of the source's family where there is one.
Result<IpAddress> resolve(const std::string& host, const std::optional<IpAddress>& source);

// REQUIRES an option of type std::int64_t.
Result<std::uint32_t> numberOption(const boost::program_options::variables_map& values,
                                   const char* name, std::uint32_t least, std::uint32_t most);

// "auto", "soft", "mlx5_0", "mlx5_0/2", as in the agent's configuration.
Result<rdma::DeviceOptions> deviceOptions(const std::string& text);

}  // namespace pingloom::cli
