#include "cli/pages_source.h"

#include <fmt/format.h>

#include <utility>

#include "cli/service_api.h"

namespace pingloom::cli {
namespace {

constexpr Service kCollector = {
    "collector",
    "Start one with 'pingloom-collector --config FILE', or say with --url where one answers HTTP"};

// As a value in a query: all but the unreserved characters of RFC 3986.
std::string percentEncoded(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace

Result<PagesAnswer> fetchPages(const PagesQuery& query, Nanos timeout) {
  std::string path = "/api/v1/pages";
  if (!query.agent.empty()) path += "?agent=" + percentEncoded(query.agent);
  auto json = askJson(kCollector, query.site, path, timeout);
  if (!json) return tl::unexpected(json.error());
  auto document = readPagesDocument(*json, monotonicNow());
  if (!document) return tl::unexpected(document.error());
  return PagesAnswer{std::move(*json), std::move(*document)};
}

}  // namespace pingloom::cli
