// Produces the commands that keep the paths' keys of docs/redis-keys.md up to date. No state; any
// thread.
#pragma once

#include <string>
#include <string_view>

#include "controller/model/path_json.h"
#include "controller/redis/resp.h"

namespace pingloom::controller::path_keys {

// A key goes this long after the last trace of its source.
constexpr Nanos kLife = PathBoard::kForgetAfter;

std::string key(std::string_view probe, std::string_view source);

// Sets the field of this flow.
void write(const KnownPath& known, const RouterNames& names, Commands& out);
// Adds an entry to the stream of events if the newest trace of this flow has found another path.
void writeChange(const KnownPath& known, const RouterNames& names, Commands& out);
void removeSource(std::string_view probe, std::string_view source, Commands& out);

}  // namespace pingloom::controller::path_keys
