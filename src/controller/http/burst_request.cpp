#include "controller/http/burst_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "common/text.h"
#include "controller/http/pair_place.h"
#include "controller/model/grid_plan.h"
#include "http/media_type.h"

namespace pingloom::controller::api {
namespace {

using Document = nlohmann::json;
using tl::unexpected;

constexpr std::uint64_t kDefaultPings = 20;
constexpr Nanos kDefaultInterval = 10 * kMillisecond;
const std::vector<std::string_view> body_keys = {"probe", "source", "destination",
                                                 "path",  "count",  "interval_ns"};

unexpected<http::Response> bad(const std::string& reason) {
  return unexpected(http::errorResponse(400, reason));
}

tl::expected<Document, http::Response> documentOf(const http::Request& request) {
  if (!http::isJson(request.content_type)) {
    return unexpected(http::errorResponse(415, "the Content-Type must be application/json"));
  }
  if (request.body.size() > kMaxBurstRequest) {
    return unexpected(http::errorResponse(
        413, fmt::format("the body is larger than {} bytes", kMaxBurstRequest)));
  }
  Document document = Document::parse(request.body, nullptr, false);
  if (!document.is_object()) return bad("the body is not a JSON object");
  for (const auto& [key, value] : document.items()) {
    if (std::find(body_keys.begin(), body_keys.end(), key) == body_keys.end()) {
      return bad("unknown key '" + key + "'" + didYouMean(key, body_keys));
    }
  }
  return document;
}

tl::expected<std::string, http::Response> textOf(const Document& document, const char* key) {
  const auto found = document.find(key);
  if (found == document.end() || !found->is_string()) {
    return bad(fmt::format("'{}' is missing or not a string", key));
  }
  return found->get<std::string>();
}

tl::expected<std::uint64_t, http::Response> numberOf(const Document& document, const char* key,
                                                     std::uint64_t without, std::uint64_t smallest,
                                                     std::uint64_t largest) {
  const auto found = document.find(key);
  if (found == document.end()) return without;
  const std::uint64_t number = found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  if (!found->is_number_unsigned() || number < smallest || number > largest) {
    return bad(fmt::format("'{}' is not a whole number from {} to {}", key, smallest, largest));
  }
  return number;
}

}  // namespace

tl::expected<BurstOrder, http::Response> burstOrder(const GridPlan& plan,
                                                    const http::Request& request) {
  const auto document = documentOf(request);
  if (!document) return unexpected(document.error());
  std::array<std::string, 3> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto text = textOf(*document, body_keys[i].data());
    if (!text) return unexpected(std::move(text.error()));
    names[i] = std::move(*text);
  }
  const auto place = pairNamed(plan, names[0], names[1], names[2]);
  if (!place) return unexpected(place.error());
  const ProbeGrid& grid = plan.probes[place->probe];
  const std::uint32_t paths = pathsOf(grid, place->source, place->destination);
  const std::uint64_t first_path = paths == 0 ? 0 : 1;
  const auto path = numberOf(*document, "path", first_path, first_path, paths);
  if (!path) return unexpected(path.error());
  const auto count = numberOf(*document, "count", kDefaultPings, 1, kMaxBurstPings);
  if (!count) return unexpected(count.error());
  const auto interval =
      numberOf(*document, "interval_ns", kDefaultInterval, kMinBurstInterval, kMaxBurstInterval);
  if (!interval) return unexpected(interval.error());
  BurstOrder order;
  order.probe = grid.spec.name;
  order.source = grid.sources[place->source];
  order.destination = grid.destinations[place->destination];
  order.path = static_cast<std::uint32_t>(*path);
  order.count = static_cast<std::uint32_t>(*count);
  order.interval = static_cast<Nanos>(*interval);
  order.timeout = grid.spec.timeout;
  return order;
}

}  // namespace pingloom::controller::api
