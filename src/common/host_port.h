// Where a peer is reached by TCP, as a person writes it. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/error.h"

namespace pingloom {

// Parses HOST, HOST:PORT, ADDRESS, ADDRESS:PORT or [IPV6]:PORT, and returns it with a port. The
// error's entity is the text.
Result<std::string> parseHostPort(std::string_view text, std::uint16_t default_port);

// Whether what parseHostPort() returned has an unspecified address (0.0.0.0, [::]), at which a host
// reaches itself.
bool isUnspecified(std::string_view host_port);

}  // namespace pingloom
