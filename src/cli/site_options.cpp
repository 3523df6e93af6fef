#include "cli/site_options.h"

#include <cstdlib>

#include "http/tokens.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

std::string fileOf(const po::variables_map& values, const char* option, const char* variable) {
  if (values.count(option) != 0) return values[option].as<std::string>();
  const char* environment = std::getenv(variable);
  return environment == nullptr ? "" : environment;
}

}  // namespace

void addSiteOptions(po::options_description& options, const char* url_help) {
  options.add_options()("url", po::value<std::string>(), url_help)(
      "token-file", po::value<std::string>()->value_name("FILE"),
      "its only line is the token that lets in (default: $PINGLOOM_TOKEN_FILE, else none)")(
      "ca", po::value<std::string>()->value_name("FILE"),
      "for https: trust these certificates (default: $PINGLOOM_CA, else the system's)");
}

Result<http::Site> siteOf(const po::variables_map& values, const std::string& url) {
  http::Site site;
  site.url = values.count("url") != 0 ? values["url"].as<std::string>() : url;
  site.ca = fileOf(values, "ca", "PINGLOOM_CA");
  const std::string token_file = fileOf(values, "token-file", "PINGLOOM_TOKEN_FILE");
  if (token_file.empty()) return site;
  auto token = http::loadToken(token_file);
  if (!token) return tl::unexpected(token.error());
  site.token = std::move(*token);
  return site;
}

}  // namespace pingloom::cli
