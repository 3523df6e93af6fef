#include "cli/site_options.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "http/tokens.h"
#include "http/url.h"

namespace pingloom::cli {
namespace po = boost::program_options;

void addSiteOptions(po::options_description& options, const char* url_help) {
  options.add_options()("url", po::value<std::string>(), url_help)(
      "token-file", po::value<std::string>()->value_name("FILE"),
      "a file whose only line is the access token (default: $PINGLOOM_TOKEN_FILE, else none)")(
      "ca", po::value<std::string>()->value_name("FILE"),
      "for https: trust these certificates (default: $PINGLOOM_CA, else the system's)");
}

Setting settingOf(const po::variables_map& values, const char* option, const char* variable) {
  if (values.count(option) != 0) {
    return {values[option].as<std::string>(), std::string("--") + option};
  }
  const char* environment = variable == nullptr ? nullptr : std::getenv(variable);
  if (environment == nullptr || *environment == '\0') return {};
  return {environment, variable};
}

tl::unexpected<Error> wrong(const Setting& setting, const Error& error) {
  return makeError(setting.source + " " + error.entity, error.reason);
}

Result<http::Site> siteOf(const po::variables_map& values, const char* url_variable,
                          const char* default_url) {
  http::Site site;
  site.url = default_url;
  if (const Setting url = settingOf(values, "url", url_variable); !url.source.empty()) {
    if (const auto parsed = http::parseUrl(url.value); !parsed) return wrong(url, parsed.error());
    site.url = url.value;
  }
  if (const Setting ca = settingOf(values, "ca", "PINGLOOM_CA"); !ca.source.empty()) {
    if (::access(ca.value.c_str(), R_OK) != 0) {
      return wrong(ca, makeErrnoError(ca.value, "cannot read", errno).value());
    }
    site.ca = ca.value;
  }
  if (const Setting file = settingOf(values, "token-file", "PINGLOOM_TOKEN_FILE");
      !file.source.empty()) {
    auto token = http::loadToken(file.value);
    if (!token) return wrong(file, token.error());
    site.token = std::move(*token);
  }
  return site;
}

}  // namespace pingloom::cli
