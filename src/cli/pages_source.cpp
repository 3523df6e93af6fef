#include "cli/pages_source.h"

#include <utility>

#include "cli/service_api.h"
#include "http/url.h"

namespace pingloom::cli {
namespace {

constexpr Service kCollector = {
    "collector",
    "Start one with 'pingloom-collector --config FILE', or say with --url where one answers HTTP"};

}  // namespace

Result<PagesAnswer> fetchPages(const PagesQuery& query, Nanos timeout) {
  std::string path = "/api/v1/pages";
  if (!query.agent.empty()) path += "?agent=" + http::percentEncoded(query.agent);
  auto json = askJson(kCollector, query.site, path, timeout);
  if (!json) return tl::unexpected(json.error());
  auto document = readPagesDocument(*json, monotonicNow());
  if (!document) return tl::unexpected(document.error());
  return PagesAnswer{std::move(*json), std::move(*document)};
}

}  // namespace pingloom::cli
