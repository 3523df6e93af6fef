#include "cli/results_query.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/address.h"
#include "common/text.h"
#include "plan/plan.h"

namespace pingloom::cli {
namespace {

// Orders by address, 10.0.0.2 before 10.0.0.10; paths (10.0.0.2#3) follow the row of all paths.
std::pair<IpAddress, std::uint64_t> placeOf(const std::string& field) {
  const std::size_t hash = field.find('#');
  const auto address = IpAddress::parse(field.substr(0, hash));
  std::uint64_t path = 0;
  if (hash != std::string::npos) {
    path = parseUnsigned(field.substr(hash + 1), plan::kMaxPaths).value_or(0);
  }
  return {address.value_or(IpAddress()), path};
}

Result<std::vector<ResultRow>> rowsOfSource(RedisReader& redis, const std::string& probe,
                                            const std::string& source,
                                            const std::string& destination) {
  auto fields =
      destination.empty() ? redis.rows(probe, source) : redis.rowsOf(probe, source, destination);
  if (!fields) return tl::unexpected(fields.error());
  std::sort(fields->begin(), fields->end(), [](const auto& a, const auto& b) {
    return std::pair(placeOf(a.first), a.first) < std::pair(placeOf(b.first), b.first);
  });
  std::vector<ResultRow> rows;
  for (auto& [field, json] : *fields) rows.push_back({probe, source, field, std::move(json)});
  return rows;
}

}  // namespace

Result<std::vector<ResultRow>> readRows(RedisReader& redis, const ResultFilter& filter) {
  std::vector<std::string> probes = {filter.probe};
  if (filter.probe.empty()) {
    auto known = redis.probes();
    if (!known) return tl::unexpected(known.error());
    probes = std::move(*known);
  }
  std::vector<ResultRow> rows;
  for (const std::string& probe : probes) {
    std::vector<std::string> sources = {filter.source};
    if (filter.source.empty()) {
      auto known = redis.sources(probe);
      if (!known) return tl::unexpected(known.error());
      sources = std::move(*known);
    }
    for (const std::string& source : sources) {
      auto some = rowsOfSource(redis, probe, source, filter.destination);
      if (!some) return tl::unexpected(some.error());
      rows.insert(rows.end(), std::make_move_iterator(some->begin()),
                  std::make_move_iterator(some->end()));
    }
  }
  return rows;
}

std::vector<ResultRow> ChangedRows::of(std::vector<ResultRow> rows) {
  std::map<std::string, std::string> now;
  std::vector<ResultRow> changed;
  for (ResultRow& row : rows) {
    const std::string key = row.probe + ' ' + row.source + ' ' + row.destination;
    const auto before = seen_.find(key);
    const bool same = before != seen_.end() && before->second == row.json;
    now[key] = row.json;
    if (!same) changed.push_back(std::move(row));
  }
  seen_ = std::move(now);
  return changed;
}

}  // namespace pingloom::cli
