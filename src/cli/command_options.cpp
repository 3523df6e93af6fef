#include "cli/command_options.h"

#include <fmt/format.h>
#include <netdb.h>

#include <memory>

#include "agent/own_addresses.h"
#include "cli/text_table.h"
#include "common/text.h"

namespace pingloom::cli {

Result<std::optional<IpAddress>> sourceOption(const boost::program_options::variables_map& values) {
  if (values.count("source") == 0) return std::nullopt;
  const auto given = IpAddress::parse(values["source"].as<std::string>());
  if (!given) return makeError("--source", given.error().text());
  return *given;
}

Result<IpAddress> resolve(const std::string& host, const std::optional<IpAddress>& source) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_family = !source ? AF_UNSPEC : source->isV4() ? AF_INET : AF_INET6;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (failure != 0) return makeError(printable(host), gai_strerror(failure));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  return IpAddress::fromSockaddr(found->ai_addr);
}

Result<std::vector<IpAddress>> ownAddresses(const std::optional<IpAddress>& source,
                                            const char* option) {
  auto addresses = source ? std::vector{*source} : agent::machineAddresses();
  if (!addresses.empty()) return addresses;
  return makeError(option, "this host has loopback addresses only: say which, --source ADDRESS");
}

Result<std::uint32_t> numberOption(const boost::program_options::variables_map& values,
                                   const char* name, std::uint32_t least, std::uint32_t most) {
  const auto number = values[name].as<std::int64_t>();
  if (number < least || number > most) {
    return makeError(std::string("--") + name, fmt::format("must be {} to {}", least, most));
  }
  return static_cast<std::uint32_t>(number);
}

Result<rdma::DeviceOptions> deviceOptions(const std::string& text) {
  rdma::DeviceOptions options;
  const auto slash = text.find('/');
  options.device = text.substr(0, slash);
  if (slash == std::string::npos) return options;
  const auto port = parseUnsigned(text.substr(slash + 1), 255);
  if (!port || *port == 0) return makeError("--device", "the port is not a number 1..255");
  options.port = static_cast<std::uint8_t>(*port);
  return options;
}

}  // namespace pingloom::cli
