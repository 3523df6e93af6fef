// Returns the changes of state and severity within a range of time.
#include <fmt/format.h>

#include <utility>

#include "common/json_text.h"
#include "controller/history/event_reader.h"
#include "controller/http/api.h"
#include "controller/http/cells.h"
#include "controller/http/past_query.h"
#include "controller/model/grid_plan.h"

namespace pingloom::controller::api {
namespace {

constexpr std::uint64_t kDefaultLimit = 1000;
constexpr std::uint64_t kMaxEvents = 10'000;
constexpr std::uint64_t kMaxBins = 1000;

tl::expected<EventQuery, http::Response> eventQuery(const GridPlan& plan,
                                                    const http::Request& request) {
  EventQuery query;
  if (auto refused = readPairQuery(plan, request, kDefaultLimit, kMaxEvents, query)) {
    return tl::unexpected(std::move(*refused));
  }
  const auto bins = numberOption(request, "bins", 0, kMaxBins);
  if (!bins) return tl::unexpected(bins.error());
  query.bins = *bins;
  return query;
}

// Appends "NAME":"10.0.0.1","NAME_name":"gpu-001"; without an address both are null.
void appendHost(std::string& out, const GridPlan& plan, std::string_view name,
                const std::optional<IpAddress>& address) {
  const std::string text = address ? address->text() : "";
  out += fmt::format(R"(,"{}":)", name);
  if (!address) {
    out += fmt::format(R"(null,"{}_name":null)", name);
    return;
  }
  appendJsonString(out, text);
  out += fmt::format(R"(,"{}_name":)", name);
  appendJsonString(out, plan.nameOf(*address));
}

std::string windowText(Nanos start_utc) {
  return start_utc == 0 ? "null" : '"' + formatUtc(start_utc) + '"';
}

void appendEvent(std::string& out, const GridPlan& plan, const KeptEvent& event) {
  out += fmt::format(R"({{"at":"{}","window":{},"probe":)", formatUtc(event.utc),
                     windowText(event.window_utc));
  appendJsonString(out, event.probe);
  appendHost(out, plan, "source", event.source);
  appendHost(out, plan, "destination", event.destination);
  out += fmt::format(R"(,"from":"{}","to":"{}","severity_from":"{}","severity":"{}","pairs":{}}})",
                     name(event.from), name(event.to), name(event.severity_from),
                     name(event.severity_to), event.pairs);
}

void appendBins(std::string& out, const std::vector<EventBin>& bins) {
  char separator = '[';
  for (const EventBin& bin : bins) {
    if (bin.events == 0) continue;
    out += fmt::format(
        R"({}{{"at":"{}","window":{},"worst":"{}","severity":"{}","events":{},"pairs":{}}})",
        separator, formatUtc(bin.utc), windowText(bin.window_utc), name(bin.worst),
        name(bin.severity), bin.events, bin.pairs);
    separator = ',';
  }
  out += separator == '[' ? "[]" : "]";
}

http::Response eventsIn(History& history, const GridPlan& plan, const EventQuery& query) {
  const auto found = readEvents(history.database(), query);
  if (!found) return unreadable(found.error());
  http::Response response;
  std::string& out = response.body;
  out = fmt::format(R"({{"from":"{}","to":"{}","left_out":{},"events":[)",
                    formatUtc(query.from_utc), formatUtc(query.until_utc), found->left_out);
  for (std::size_t i = 0; i < found->events.size(); ++i) {
    if (i != 0) out += ',';
    appendEvent(out, plan, found->events[i]);
  }
  out += ']';
  if (query.bins > 0) {
    out += R"(,"bins":)";
    appendBins(out, found->bins);
  }
  out += "}\n";
  return response;
}

}  // namespace

http::Answer events(const std::shared_ptr<const GridPlan>& plan, HistoryReader& reader,
                    const http::Request& request) {
  auto query = eventQuery(*plan, request);
  if (!query) return std::move(query.error());
  return later(reader, [plan, query = std::move(*query)](History& history) {
    return eventsIn(history, *plan, query);
  });
}

}  // namespace pingloom::controller::api
