#include "http/origin.h"

#include <algorithm>
#include <cctype>

namespace pingloom::http {
namespace {

bool equalIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

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
  if (IpAddress::parse(name) || equalIgnoringCase(name, "localhost")) return true;
  return std::any_of(names.begin(), names.end(), [name](const std::string& allowed) {
    return equalIgnoringCase(name, allowed);
  });
}

bool originAllowed(std::string_view origin, std::string_view host, bool encrypted) {
  if (origin.empty()) return true;
  const std::size_t scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos) return false;  // a sandboxed page sends "null"
  if (encrypted && !equalIgnoringCase(origin.substr(0, scheme_end), "https")) return false;
  return equalIgnoringCase(origin.substr(scheme_end + 3), host);
}

}  // namespace pingloom::http
