#include "cli/pinglist_cost.h"

#include <fmt/format.h>

#include <utility>

#include "cli/text_table.h"
#include "common/size.h"
#include "pinglist/coverage.h"

namespace pingloom::cli {

std::string costText(const pinglist::Cost& cost) {
  std::string text = fmt::format("  probes   {}\n  hosts    {}\n  pairs    {}\n", cost.probes,
                                 cost.hosts, cost.pairs);
  if (!cost.busiest_host.empty()) {
    text += fmt::format("  pings    {:.6g}/s by the busiest host, {}; {:.6g}/s by all\n",
                        cost.busiest_pings_per_second, cost.busiest_host, cost.pings_per_second);
  }
  text += fmt::format("  rows     {:.6g}/s at the controller\n", cost.rows_per_second);
  text += fmt::format("  history  {} a day\n", humanBytes(cost.history_bytes_per_day));
  return text;
}

std::string coverageText(const pinglist::Pinglist& list) {
  std::string text;
  for (const pinglist::Coverage& coverage : pinglist::coverageOf(list)) {
    text += "  plan of " + coverage.probe + "\n";
    for (const std::string& sentence : describe(coverage, list.topology)) {
      text += "    " + printable(sentence) + "\n";
    }
  }
  return text;
}

nlohmann::ordered_json costJson(const pinglist::Pinglist& list) {
  const pinglist::Cost cost = pinglist::costOf(list);
  nlohmann::ordered_json plans = nlohmann::ordered_json::array();
  for (const pinglist::Coverage& each : pinglist::coverageOf(list)) {
    plans.push_back({{"probe", each.probe},
                     {"label", each.label},
                     {"members", each.members},
                     {"groups", each.groups},
                     {"pairs_within", each.pairs_within},
                     {"pairs_across", each.pairs_across},
                     {"group_pairs", each.group_pairs},
                     {"group_pairs_crossed", each.group_pairs_crossed},
                     {"least_flows", each.least_flows},
                     {"median_flows", each.median_flows},
                     {"least_flows_of_group", each.least_of_group},
                     {"cover", each.cover},
                     {"links_covered", each.links_covered}});
  }
  return {{"pairs", cost.pairs},
          {"pings_per_second", cost.pings_per_second},
          {"busiest_pings_per_second", cost.busiest_pings_per_second},
          {"rows_per_second", cost.rows_per_second},
          {"history_bytes_per_day", cost.history_bytes_per_day},
          {"plans", std::move(plans)}};
}

}  // namespace pingloom::cli
