#include "controller/http/pair_place.h"

#include <string>

#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "controller/model/grid_plan.h"

namespace pingloom::controller::api {
namespace {

// Finds the pair. The answer shows the error's text.
Result<PairPlace> placeOf(const GridPlan& plan, std::uint32_t probe, const std::string& source_text,
                          const std::string& destination_text) {
  const ProbeGrid& grid = plan.probes[probe];
  const auto source_address = IpAddress::parse(source_text);
  const auto destination_address = IpAddress::parse(destination_text);
  if (!source_address) return tl::unexpected(source_address.error());
  if (!destination_address) return tl::unexpected(destination_address.error());
  const auto source = indexOf(grid.sources, *source_address);
  const auto destination = indexOf(grid.destinations, *destination_address);
  if (!source) return makeError(source_text, "not a source of probe " + grid.spec.name);
  if (!destination) {
    return makeError(destination_text, "not a destination of probe " + grid.spec.name);
  }
  if (!isPair(grid, *source, *destination)) {
    return makeError(source_text + " to " + destination_text,
                     "not a pair of probe " + grid.spec.name);
  }
  return PairPlace{probe, *source, *destination};
}

}  // namespace

tl::expected<PairPlace, http::Response> pairNamed(const GridPlan& plan, const std::string& probe,
                                                  const std::string& source,
                                                  const std::string& destination) {
  const auto number = probeNamed(plan, probe);
  if (!number) return tl::unexpected(unknownProbe(plan, probe));
  const auto place = placeOf(plan, *number, source, destination);
  if (!place) return tl::unexpected(http::errorResponse(404, place.error().text()));
  return *place;
}

tl::expected<PairPlace, http::Response> pairPlace(const GridPlan& plan, std::string_view pair) {
  const std::size_t first = std::min(pair.find('/'), pair.size());
  const std::size_t second = std::min(pair.find('/', first + 1), pair.size());
  if (second == pair.size() || pair.find('/', second + 1) != std::string_view::npos) {
    return tl::unexpected(
        http::errorResponse(404, "the path must end in PROBE/SOURCE/DESTINATION"));
  }
  return pairNamed(plan, std::string(pair.substr(0, first)),
                   std::string(pair.substr(first + 1, second - first - 1)),
                   std::string(pair.substr(second + 1)));
}

}  // namespace pingloom::controller::api
