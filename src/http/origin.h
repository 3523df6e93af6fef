// Decides which web pages may talk to the server from a browser. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"

namespace pingloom::http {

// Whether a Host header names this server by an IP address, as localhost, or by one of `names`;
// case and port do not matter. A web page that lets its own name resolve to a loopback address (DNS
// rebinding) sends that name. A request without the header (HTTP/1.0) is allowed.
bool hostAllowed(std::string_view host, const std::vector<std::string>& names);

// Whether the Origin of a WebSocket, or of a request that may change something, is a page of this
// server. Browsers let any page send these and always add the header; other programs send none.
// `encrypted` says that this server's pages come by https only.
bool originAllowed(std::string_view origin, std::string_view host, bool encrypted);

}  // namespace pingloom::http
