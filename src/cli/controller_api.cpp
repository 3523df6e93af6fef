#include "cli/controller_api.h"

#include "cli/service_api.h"
#include "cli/site_options.h"

namespace pingloom::cli {
namespace {

constexpr Service kController = {
    "controller", "Give its address with --url or the environment variable PINGLOOM_URL"};

}  // namespace

Result<http::Site> controllerSite(const boost::program_options::variables_map& values) {
  return siteOf(values, "PINGLOOM_URL", "http://127.0.0.1:8080");
}

Result<std::string> askController(const http::Site& site, const std::string& path, Nanos timeout) {
  return ask(kController, site, path, timeout);
}

Result<nlohmann::json> askControllerJson(const http::Site& site, const std::string& path,
                                         Nanos timeout) {
  return askJson(kController, site, path, timeout);
}

Result<std::optional<nlohmann::json>> askControllerIfKnown(const http::Site& site,
                                                           const std::string& path, Nanos timeout) {
  return askJsonIfKnown(kController, site, path, timeout);
}

Result<nlohmann::json> tellController(const http::Site& site, const http::ClientRequest& request,
                                      Nanos timeout) {
  return tellJson(kController, site, request, timeout);
}

}  // namespace pingloom::cli
