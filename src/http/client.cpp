#include "http/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "common/text.h"
#include "http/client_socket.h"
#include "http/client_tls.h"
#include "http/url.h"

namespace pingloom::http {
namespace {

constexpr std::size_t kMaxHeader = 64 * 1024;

std::string lowerCase(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

struct Header {
  unsigned status = 0;
  std::string content_type;
  std::size_t content_length = std::string::npos;  // npos: the body ends with the connection
};

Result<Header> parseHeader(std::string_view text, const std::string& entity) {
  const auto bad = [&entity] { return makeError(entity, "the answer is not HTTP"); };
  Header header;
  if (text.substr(0, 7) != "HTTP/1." || text.size() < 12 || text[8] != ' ') return bad();
  const auto status = parseUnsigned(text.substr(9, 3), 999);
  if (!status) return bad();
  header.status = static_cast<unsigned>(*status);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\r\n"), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string name = lowerCase(line.substr(0, colon));
    std::string_view value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    if (name == "content-type") header.content_type = value;
    if (name == "transfer-encoding")
      return makeError(entity, "the answer has a chunked body, which this program does not read");
    if (name == "content-length") {
      const auto length = parseUnsigned(value, kMaxClientBody);
      if (!length) return makeError(entity, "the answer is larger than this program takes");
      header.content_length = *length;
    }
  }
  return header;
}

// `receive_some` appends the bytes received and returns their number; 0 at the end.
using ReceiveSome = std::function<Result<std::size_t>(std::string&)>;

Result<ClientResponse> receive(const ReceiveSome& receive_some, const std::string& entity) {
  std::string data;
  std::size_t body_start = std::string::npos;
  Header header;
  for (;;) {
    const auto got = receive_some(data);
    if (!got) return tl::unexpected(got.error());
    if (body_start == std::string::npos) {
      const std::size_t end = data.find("\r\n\r\n");
      if (end == std::string::npos && (*got == 0 || data.size() > kMaxHeader)) {
        return makeError(entity, data.empty() ? "closed the connection without an answer"
                                              : "the answer is not HTTP");
      }
      if (end == std::string::npos) continue;
      auto parsed = parseHeader(std::string_view(data).substr(0, end), entity);
      if (!parsed) return tl::unexpected(parsed.error());
      header = std::move(*parsed);
      body_start = end + 4;
    }
    const std::size_t body = data.size() - body_start;
    const bool until_end = header.content_length == std::string::npos;
    if (until_end && body > kMaxClientBody) {
      return makeError(entity, "the answer is larger than this program takes");
    }
    if (until_end ? *got == 0 : body >= header.content_length) {
      return ClientResponse{header.status, header.content_type,
                            data.substr(body_start, header.content_length)};
    }
    if (*got == 0) return makeError(entity, "closed the connection before the end of its answer");
  }
}

// HTTP/1.0 means one request per connection and an answer without chunks.
std::string textOf(const ClientRequest& request, const Url& url, const Site& site) {
  std::string text = fmt::format("{} {}{} HTTP/1.0\r\nHost: {}\r\nAccept: */*\r\n", request.method,
                                 url.prefix, request.path_and_query, url.authority);
  if (!site.token.empty()) text += fmt::format("Authorization: Bearer {}\r\n", site.token);
  if (request.method != "GET") {
    text += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n",
                        request.body.size());
  }
  return text + "\r\n" + request.body;
}

}  // namespace

Result<ClientResponse> send(const Site& site, const ClientRequest& request, Nanos timeout) {
  const Nanos deadline_mono = monotonicNow() + timeout;
  const auto url = parseUrl(site.url);
  if (!url) return tl::unexpected(url.error());
  const std::string entity = site.url + request.path_and_query;
  for (const char c : url->prefix + request.path_and_query + url->authority) {
    if (static_cast<unsigned char>(c) <= ' ') return makeError(entity, "contains a space");
  }
  const auto socket = connectTo(*url, entity, deadline_mono);
  if (!socket) return tl::unexpected(socket.error());
  const std::string text = textOf(request, *url, site);
  if (!url->tls) {
    const Status sent = sendAll(socket->get(), text, entity, deadline_mono);
    if (!sent) return tl::unexpected(sent.error());
    return receive(
        [&](std::string& out) { return receiveSome(socket->get(), out, entity, deadline_mono); },
        entity);
  }
  auto tls = ClientTls::open(socket->get(), *url, site.ca, entity, deadline_mono);
  if (!tls) return tl::unexpected(tls.error());
  if (auto sent = (*tls)->send(text); !sent) return tl::unexpected(sent.error());
  return receive([&](std::string& out) { return (*tls)->receive(out); }, entity);
}

Result<ClientResponse> get(const Site& site, const std::string& path_and_query, Nanos timeout) {
  return send(site, {"GET", path_and_query}, timeout);
}

Result<ClientResponse> get(const std::string& url, const std::string& path_and_query,
                           Nanos timeout) {
  return get(Site{url, "", {}}, path_and_query, timeout);
}

}  // namespace pingloom::http
