#include "controller/redis/path_keys.h"

#include <fmt/format.h>

namespace pingloom::controller::path_keys {

using std::string_view;

std::string key(string_view probe, string_view source) {
  return fmt::format("pingloom:path:{}:{}", probe, source);
}

void write(const KnownPath& known, const RouterNames& names, Commands& out) {
  const TracedPath& path = known.path;
  const std::string at = key(path.probe, path.source.text());
  const std::string field = path.path == 0
                                ? path.destination.text()
                                : fmt::format("{}#{}", path.destination.text(), path.path);
  out.add(string_view("HSET"), at, field, pathJson(known, names, false));
  out.add(string_view("PEXPIRE"), at, static_cast<std::uint64_t>(kLife / kMillisecond));
}

void removeSource(string_view probe, string_view source, Commands& out) {
  out.add(string_view("DEL"), key(probe, source));
}

}  // namespace pingloom::controller::path_keys
