// Decides whether a request may reach a handler. Internal to src/http: like the connections, this
// file sees Beast. The HTTP thread.
#pragma once

#include <boost/beast/http.hpp>
#include <string_view>
#include <tl/expected.hpp>

#include "http/beast_names.h"
#include "http/connection.h"
#include "http/message.h"

namespace pingloom::http {

using BeastRequest = boost::beast::http::request<boost::beast::http::string_body>;

inline std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Every answer carries these. The page uses nothing but its own files and its own WebSocket.
template <typename Fields>
void setSecurityHeaders(Fields& fields, const ServerOptions& options) {
  const bool framed = !options.frame_ancestors.empty();
  fields.set("Content-Security-Policy",
             "default-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
             "frame-ancestors " +
                 (framed ? options.frame_ancestors : "'none'"));
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("Referrer-Policy", "no-referrer");
  // It cannot name origins.
  if (!framed) fields.set("X-Frame-Options", "DENY");
}

// The headers of an answer, except those of its length.
template <typename Fields>
void setHeaders(Fields& fields, const Response& response, const ServerOptions& options) {
  fields.set(boost::beast::http::field::content_type, response.content_type);
  fields.set(boost::beast::http::field::cache_control, "no-store");
  setSecurityHeaders(fields, options);
  for (const auto& [name, value] : response.headers) fields.set(name, value);
}

struct Refused {
  Response answer;
  bool ends_connection = true;
};

// Returns the request as handlers see it, or the answer that refuses it, which is counted by then.
// An upgrade to a WebSocket passes only where its path has an endpoint. The body is moved out of
// `request`.
tl::expected<Request, Refused> check(Service& service, const IpAddress& peer,
                                     BeastRequest& request);

}  // namespace pingloom::http
