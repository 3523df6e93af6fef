// Signs browsers in and out. A browser needs a cookie because its WebSockets cannot carry a token.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "controller/http/api.h"
#include "http/access.h"
#include "http/media_type.h"

namespace pingloom::controller::api {
namespace {

using http::Access;

constexpr std::size_t kMaxSignIn = 1024;

// HttpOnly hides the cookie from scripts; with SameSite no page of another site sends it.
std::string cookie(const Access& access, std::string_view session, Nanos age) {
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}", Access::kCookie,
                     session, age / kSecond, access.encrypts() ? "; Secure" : "");
}

http::Response whoAsks(const Access* access, http::Role role) {
  http::Response response;
  response.body =
      fmt::format("{{\"role\":{},\"tokens\":{}}}\n",
                  role == http::Role::kNone ? "null" : fmt::format("\"{}\"", name(role)),
                  access != nullptr && access->wantsTokens());
  return response;
}

http::Response signIn(Access* access, const http::Request& request,
                      http::ServerCounters& counters) {
  if (!http::isJson(request.content_type)) {
    return http::errorResponse(415, "the Content-Type must be application/json");
  }
  const auto document = request.body.size() > kMaxSignIn
                            ? nlohmann::json()
                            : nlohmann::json::parse(request.body, nullptr, false);
  const auto token = document.is_object() ? document.find("token") : document.end();
  if (!document.is_object() || token == document.end() || !token->is_string()) {
    return http::errorResponse(400, R"(the body must be {"token": TOKEN})");
  }
  if (access == nullptr) return whoAsks(access, http::Role::kOperate);
  const auto signed_in =
      access->signIn(request.peer, token->get_ref<const std::string&>(), monotonicNow());
  if (!signed_in) {
    counters.refuse(signed_in.error());
    return answerTo(signed_in.error());
  }
  http::Response response = whoAsks(access, signed_in->role);
  if (!signed_in->session.empty()) {
    response.headers.emplace_back("Set-Cookie",
                                  cookie(*access, signed_in->session, http::Sessions::kMaxAge));
  }
  return response;
}

http::Response signOut(Access* access, const http::Request& request) {
  if (access == nullptr) return whoAsks(access, http::Role::kOperate);
  access->signOut(request.pass);
  http::Response response = whoAsks(access, http::Role::kNone);
  response.headers.emplace_back("Set-Cookie", cookie(*access, "", 0));
  return response;
}

}  // namespace

http::Response session(http::Access* access, const http::Request& request,
                       http::ServerCounters& counters) {
  if (request.method == "GET") return whoAsks(access, request.pass.role);
  if (request.method == "POST") return signIn(access, request, counters);
  if (request.method == "DELETE") return signOut(access, request);
  auto response = http::errorResponse(405, "this path takes only GET, HEAD, POST, DELETE");
  response.headers.emplace_back("Allow", "GET, HEAD, POST, DELETE");
  return response;
}

}  // namespace pingloom::controller::api
