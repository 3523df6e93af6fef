// Who may talk to the server from within a browser. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"

namespace pingloom::http {

// Whether a Host header names this server: an IP address, localhost, or one of `names` (case
// ignored, any port). A web page that makes its own name resolve to a loopback address (DNS
// rebinding) sends its own name here. Without a Host header (HTTP/1.0) nothing is wrong.
bool hostAllowed(std::string_view host, const std::vector<std::string>& names);

// Whether the Origin of a WebSocket, or of a request that may change something, is the page this
// server served. Browsers always send one with these and let any page send them; other programs
// send none. `encrypted`: this server's own pages come by https only.
bool originAllowed(std::string_view origin, std::string_view host, bool encrypted);

}  // namespace pingloom::http
