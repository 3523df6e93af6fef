// Our own part of HTTP: what a request's target and headers, a viewer's messages and the tokens'
// file are read as. Beast reads the rest. The first line is the target, then headers' values.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "controller/http/live_watch.h"
#include "http/credentials.h"
#include "http/media_type.h"
#include "http/origin.h"
#include "http/target.h"
#include "http/tokens.h"

namespace {

std::string_view nextLine(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  return line;
}

bool within(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

// A path that is accepted has no segment that could lead elsewhere.
void checkTarget(std::string_view text) {
  const auto target = pingloom::http::parseTarget(text);
  if (!target) return;
  if (target->path.empty() || target->path.front() != '/') std::abort();
  const std::string path = target->path + '/';
  if (path.find("/../") != std::string::npos || path.find("/./") != std::string::npos) std::abort();
  if (path.find('\\') != std::string::npos || path.find('\0') != std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pingloom;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::string_view rest = input;
  checkTarget(nextLine(rest));
  const std::string_view authorization = nextLine(rest);
  if (const auto token = http::bearerToken(authorization)) {
    if (!within(*token, authorization) || token->empty()) std::abort();
  }
  const std::string_view cookies = nextLine(rest);
  if (const auto value = http::cookieNamed(cookies, "pingloom-session")) {
    if (!within(*value, cookies) || value->find(';') != std::string_view::npos) std::abort();
  }
  const std::string_view accept = nextLine(rest);
  (void)http::prefers(accept, "text/csv", "application/json");
  (void)http::isJson(accept);
  const std::string_view host = nextLine(rest);
  (void)http::hostAllowed(host, {"dash.example"});
  (void)http::originAllowed(accept, host, false);
  (void)controller::parseLiveWatch(nextLine(rest));
  const auto tokens = http::Tokens::parse(rest, "tokens");
  if (tokens && (tokens->size() == 0 || tokens->size() > http::Tokens::kMax)) std::abort();
  return 0;
}
