#include "cli/results_query.h"

#include <iterator>
#include <utility>

#include "common/address.h"

namespace pingloom::cli {
namespace {

Result<std::vector<ResultRow>> rowsOfSource(RedisReader& redis, const std::string& probe,
                                            const std::string& source,
                                            const std::string& destination) {
  std::vector<ResultRow> rows;
  if (!destination.empty()) {
    auto row = redis.row(probe, source, destination);
    if (!row) return tl::unexpected(row.error());
    if (*row) rows.push_back({probe, source, destination, std::move(**row)});
    return rows;
  }
  auto fields = redis.rows(probe, source);
  if (!fields) return tl::unexpected(fields.error());
  // By address, 10.0.0.2 before 10.0.0.10; a path of several (10.0.0.2#3) after its merge.
  std::map<std::pair<IpAddress, std::string>, ResultRow> sorted;
  for (auto& [field, json] : *fields) {
    const auto address = IpAddress::parse(field.substr(0, field.find('#')));
    sorted[{address.value_or(IpAddress()), field}] = {probe, source, field, std::move(json)};
  }
  for (auto& [key, row] : sorted) rows.push_back(std::move(row));
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
