#include "controller/redis/path_keys.h"

#include <fmt/format.h>

#include "controller/redis/key_updates.h"

namespace pingloom::controller::path_keys {

using std::string_view;

namespace {

std::string hopsText(const TracedPath& path, const RouterNames& names) {
  std::string text;
  for (const PathHop& hop : path.hops) {
    if (!text.empty()) text += ' ';
    const std::string name = hop.isKnown() ? names(hop.router) : "?";
    text += name.empty() ? hop.router.text() : name;
  }
  return text;
}

}  // namespace

std::string key(string_view probe, string_view source) {
  return fmt::format("pingloom:path:{}:{}", probe, source);
}

void write(const KnownPath& known, const RouterNames& names, Commands& out) {
  const TracedPath& path = known.path;
  const std::string at = key(path.probe, path.source.text());
  if (!out.takes(at)) return;
  const std::string field = path.path == 0
                                ? path.destination.text()
                                : fmt::format("{}#{}", path.destination.text(), path.path);
  out.add(string_view("HSET"), at, field, pathJson(known, names, false));
  out.add(string_view("PEXPIRE"), at, static_cast<std::uint64_t>(kLife / kMillisecond));
}

void writeChange(const KnownPath& known, const RouterNames& names, Commands& out) {
  const TracedPath& path = known.path;
  if (known.before.empty() || known.broken || known.since_utc != path.traced) return;
  if (known.before.front().source_port != path.source_port) return;  // another connection
  if (!out.takes(RedisKeys::kEventsKey)) return;
  const std::string limit = std::to_string(RedisKeys::kMaxEvents);
  out.add(string_view("XADD"), RedisKeys::kEventsKey, string_view("MAXLEN"), string_view("~"),
          limit, string_view("*"), string_view("time"), formatUtc(path.traced),
          string_view("probe"), path.probe, string_view("source"), path.source.text(),
          string_view("destination"), path.destination.text(), string_view("path"),
          std::to_string(path.path), string_view("from"), hopsText(known.before.front(), names),
          string_view("to"), hopsText(path, names));
}

void removeSource(string_view probe, string_view source, Commands& out) {
  out.add(string_view("DEL"), key(probe, source));
}

}  // namespace pingloom::controller::path_keys
