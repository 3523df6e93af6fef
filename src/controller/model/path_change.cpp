#include "controller/model/path_change.h"

#include <algorithm>

namespace pingloom::controller {
namespace {

std::string routersOf(const TracedPath& path) {
  std::string made;
  for (const PathHop& hop : path.hops) {
    if (!made.empty()) made += ' ';
    made += hop.isKnown() ? hop.router.text() : "*";
  }
  return made;
}

std::uint32_t firstOther(const TracedPath& before, const TracedPath& after) {
  const auto differs = [](const PathHop& a, const PathHop& b) {
    return a.isKnown() && b.isKnown() && a.router != b.router;
  };
  const std::size_t common = std::min(before.hops.size(), after.hops.size());
  std::size_t at = 0;
  while (at < common && !differs(before.hops[at], after.hops[at])) ++at;
  return static_cast<std::uint32_t>(at + 1);
}

}  // namespace

PathChange changeOf(const KnownPath& known, Nanos now_utc) {
  const TracedPath& path = known.path;
  const TracedPath& before = known.before.front();
  return {now_utc,           path.probe,       1,         path.source,
          path.source,       path.destination, path.path, firstOther(before, path),
          routersOf(before), routersOf(path)};
}

std::vector<IpAddress> routersIn(std::string_view text) {
  std::vector<IpAddress> made;
  while (!text.empty() && made.size() < kMaxPathHops) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const auto address = IpAddress::parse(text.substr(0, end));
    made.push_back(address ? *address : IpAddress());
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return made;
}

void PathChangeBatch::add(PathChange change) {
  Key key{change.probe, change.source};
  if (sources_.size() >= kMaxSources && !sources_.contains(key)) key.second.reset();
  Group& group = sources_[key];
  ++group.flows;
  if (group.first.size() < kMaxSingle) group.first.push_back(std::move(change));
}

PathChange PathChangeBatch::fold(const Group& group, const std::optional<IpAddress>& of) {
  PathChange made = group.first.front();
  made.flows = group.flows;
  made.of = of;
  folded_ += group.flows - 1;
  return made;
}

std::vector<PathChange> PathChangeBatch::take(Nanos now_utc) {
  const double passed = static_cast<double>(now_utc - allowed_utc_) / kSecond;
  if (passed > 0) allowance_ = std::min(kMaxBurst, allowance_ + passed * kRecordsPerSecond);
  allowed_utc_ = now_utc;
  std::vector<PathChange> made;
  std::map<std::string, Group> others;  // by probe
  for (auto& [key, group] : sources_) {
    if (allowance_ < 1 || !key.second) {
      Group& together = others[key.first];
      together.flows += group.flows;
      if (together.first.empty()) together.first = std::move(group.first);
    } else if (group.flows > group.first.size()) {
      made.push_back(fold(group, key.second));
      allowance_ -= 1;
    } else {
      allowance_ -= static_cast<double>(group.first.size());
      std::move(group.first.begin(), group.first.end(), std::back_inserter(made));
    }
  }
  for (const auto& [probe, group] : others) made.push_back(fold(group, std::nullopt));
  std::stable_sort(made.begin(), made.end(),
                   [](const PathChange& a, const PathChange& b) { return a.utc < b.utc; });
  sources_.clear();
  return made;
}

}  // namespace pingloom::controller
