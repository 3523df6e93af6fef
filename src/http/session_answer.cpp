#include "http/session_answer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "http/media_type.h"
#include "http/refusal.h"

namespace pingloom::http {
namespace {

constexpr std::size_t kMaxSignIn = 1024;

// HttpOnly hides the cookie from scripts; with SameSite no page of another site sends it.
std::string cookie(const Access& access, std::string_view session, Nanos age) {
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}", Access::kCookie,
                     session, age / kSecond, access.encrypts() ? "; Secure" : "");
}

Response whoAsks(const Access* access, Role role) {
  Response response;
  response.body = fmt::format("{{\"role\":{},\"tokens\":{}}}\n",
                              role == Role::kNone ? "null" : fmt::format("\"{}\"", name(role)),
                              access != nullptr && access->wantsTokens());
  return response;
}

Response signIn(Access* access, const Request& request, ServerCounters& counters) {
  if (!isJson(request.content_type)) {
    return errorResponse(415, "the Content-Type must be application/json");
  }
  const auto document = request.body.size() > kMaxSignIn
                            ? nlohmann::json()
                            : nlohmann::json::parse(request.body, nullptr, false);
  const auto token = document.is_object() ? document.find("token") : document.end();
  if (!document.is_object() || token == document.end() || !token->is_string()) {
    return errorResponse(400, R"(the body must be {"token": TOKEN})");
  }
  if (access == nullptr) return whoAsks(access, Role::kOperate);
  const auto signed_in =
      access->signIn(request.peer, token->get_ref<const std::string&>(), monotonicNow());
  if (!signed_in) {
    counters.refuse(signed_in.error());
    return answerTo(signed_in.error());
  }
  Response response = whoAsks(access, signed_in->role);
  if (!signed_in->session.empty()) {
    response.headers.emplace_back("Set-Cookie",
                                  cookie(*access, signed_in->session, Sessions::kMaxAge));
  }
  return response;
}

Response signOut(Access* access, const Request& request) {
  if (access == nullptr) return whoAsks(access, Role::kOperate);
  access->signOut(request.pass);
  Response response = whoAsks(access, Role::kNone);
  response.headers.emplace_back("Set-Cookie", cookie(*access, "", 0));
  return response;
}

}  // namespace

Response answerSession(Access* access, const Request& request, ServerCounters& counters) {
  if (request.method == "GET") return whoAsks(access, request.pass.role);
  if (request.method == "POST") return signIn(access, request, counters);
  if (request.method == "DELETE") return signOut(access, request);
  auto response = errorResponse(405, "this path takes only GET, HEAD, POST, DELETE");
  response.headers.emplace_back("Allow", "GET, HEAD, POST, DELETE");
  return response;
}

}  // namespace pingloom::http
