#include "http/origin.h"

#include <algorithm>

#include "common/text.h"

namespace pingloom::http {
namespace {

// Returns the name without the port: "[::1]:8080" -> "::1", "name:8080" -> "name".
std::string_view withoutPort(std::string_view host) {
  if (!host.empty() && host.front() == '[') {
    return host.substr(1, std::min(host.find(']'), host.size()) - 1);
  }
  return host.substr(0, host.find(':'));
}

}  // namespace

bool hostAllowed(std::string_view host, const std::vector<std::string>& names) {
  if (host.empty()) return true;
  const std::string_view name = withoutPort(host);
  if (IpAddress::parse(name) || equalsIgnoringCase(name, "localhost")) return true;
  return std::any_of(names.begin(), names.end(), [name](const std::string& allowed) {
    return equalsIgnoringCase(name, allowed);
  });
}

bool originAllowed(std::string_view origin, std::string_view host, bool encrypted) {
  if (origin.empty()) return true;
  const std::size_t scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos) return false;  // a sandboxed page sends "null"
  if (encrypted && !equalsIgnoringCase(origin.substr(0, scheme_end), "https")) return false;
  return equalsIgnoringCase(origin.substr(scheme_end + 3), host);
}

}  // namespace pingloom::http
