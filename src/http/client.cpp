#include "http/client.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "common/fd.h"
#include "common/text.h"

namespace pingloom::http {
namespace {

constexpr std::size_t kLargestHeader = 64 * 1024;

struct Url {
  std::string host;       // without brackets
  std::string port;       // digits
  std::string authority;  // as written, for the Host header
  std::string prefix;     // path, without a '/' at its end
};

Result<Url> parseUrl(const std::string& text) {
  constexpr std::string_view kScheme = "http://";
  if (text.rfind("https://", 0) == 0) return makeError(text, "https is not supported");
  if (text.rfind(kScheme, 0) != 0) return makeError(text, "must begin with http://");
  std::string_view rest = std::string_view(text).substr(kScheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  Url url;
  url.authority = rest.substr(0, slash);
  url.prefix = rest.substr(slash);
  while (!url.prefix.empty() && url.prefix.back() == '/') url.prefix.pop_back();

  std::string_view authority = url.authority;
  std::size_t host_end = std::min(authority.find(':'), authority.size());
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return makeError(text, "a '[' without its ']'");
    url.host = authority.substr(1, bracket - 1);
    host_end = bracket + 1;
  } else {
    url.host = authority.substr(0, host_end);
  }
  authority.remove_prefix(host_end);
  url.port = authority.empty() ? "80" : std::string(authority.substr(1));
  if (url.host.empty()) return makeError(text, "names no host");
  if ((!authority.empty() && authority.front() != ':') || !parseUnsigned(url.port, 65535)) {
    return makeError(text, "the port is not a number up to 65535");
  }
  return url;
}

// Waits for `events` until the deadline. The reason where that fails.
std::string waitFor(int socket, short events, Nanos deadline_mono) {
  for (;;) {
    const Nanos left = deadline_mono - monotonicNow();
    if (left <= 0) return "timed out";
    pollfd waiting{socket, events, 0};
    const int milliseconds = static_cast<int>(left / kMillisecond) + 1;
    const int ready = ::poll(&waiting, 1, milliseconds);
    if (ready > 0) return "";
    if (ready < 0 && errno != EINTR) return std::strerror(errno);
  }
}

// An empty reason and a valid descriptor, or the reason.
std::string connectOne(const addrinfo& address, Nanos deadline_mono, UniqueFd& out) {
  UniqueFd socket(
      ::socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return std::strerror(errno);
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return std::strerror(errno);
    std::string reason = waitFor(socket.get(), POLLOUT, deadline_mono);
    if (!reason.empty()) return reason;
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) return std::strerror(error);
  }
  out = std::move(socket);
  return "";
}

Result<UniqueFd> connectTo(const Url& url, const std::string& entity, Nanos deadline_mono) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found);
  if (failed != 0) return makeError(entity, "cannot resolve: " + std::string(gai_strerror(failed)));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  std::string reason = "no address";
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    UniqueFd socket;
    reason = connectOne(*address, deadline_mono, socket);
    if (reason.empty()) return socket;
  }
  return makeError(entity, "cannot connect: " + reason);
}

Status sendAll(int socket, std::string_view data, const std::string& entity, Nanos deadline_mono) {
  while (!data.empty()) {
    const ssize_t sent = ::send(socket, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      data.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      const std::string reason = waitFor(socket, POLLOUT, deadline_mono);
      if (!reason.empty()) return makeError(entity, reason);
    } else if (errno != EINTR) {
      return makeErrnoError(entity, "cannot send", errno);
    }
  }
  return {};
}

// One more piece of the answer; 0 at its end.
Result<std::size_t> receiveSome(int socket, std::string& out, const std::string& entity,
                                Nanos deadline_mono) {
  std::array<char, 65536> piece;
  for (;;) {
    const ssize_t got = ::recv(socket, piece.data(), piece.size(), 0);
    if (got >= 0) {
      out.append(piece.data(), static_cast<std::size_t>(got));
      return static_cast<std::size_t>(got);
    }
    if (errno == EAGAIN) {
      const std::string reason = waitFor(socket, POLLIN, deadline_mono);
      if (!reason.empty()) return makeError(entity, reason);
    } else if (errno != EINTR) {
      return makeErrnoError(entity, "cannot receive", errno);
    }
  }
}

std::string lowerCase(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

struct Header {
  unsigned status = 0;
  std::string content_type;
  std::size_t content_length = std::string::npos;  // npos: until the connection ends
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
    if (name == "transfer-encoding") return makeError(entity, "the answer is in chunks");
    if (name == "content-length") {
      const auto length = parseUnsigned(value, kLargestClientBody);
      if (!length) return makeError(entity, "the answer is larger than this program takes");
      header.content_length = *length;
    }
  }
  return header;
}

Result<ClientResponse> receive(int socket, const std::string& entity, Nanos deadline_mono) {
  std::string data;
  std::size_t body_start = std::string::npos;
  Header header;
  for (;;) {
    const auto got = receiveSome(socket, data, entity, deadline_mono);
    if (!got) return tl::unexpected(got.error());
    if (body_start == std::string::npos) {
      const std::size_t end = data.find("\r\n\r\n");
      if (end == std::string::npos && (*got == 0 || data.size() > kLargestHeader)) {
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
    if (until_end && body > kLargestClientBody) {
      return makeError(entity, "the answer is larger than this program takes");
    }
    if (until_end ? *got == 0 : body >= header.content_length) {
      return ClientResponse{header.status, header.content_type,
                            data.substr(body_start, header.content_length)};
    }
    if (*got == 0) return makeError(entity, "closed the connection within the answer");
  }
}

}  // namespace

Result<ClientResponse> get(const std::string& base_url, const std::string& path_and_query,
                           Nanos timeout) {
  const Nanos deadline_mono = monotonicNow() + timeout;
  const auto url = parseUrl(base_url);
  if (!url) return tl::unexpected(url.error());
  const std::string entity = base_url + path_and_query;
  for (const char c : url->prefix + path_and_query + url->authority) {
    if (static_cast<unsigned char>(c) <= ' ') return makeError(entity, "contains a space");
  }
  const auto socket = connectTo(*url, entity, deadline_mono);
  if (!socket) return tl::unexpected(socket.error());
  // HTTP/1.0: one request, and an answer that is not cut into chunks.
  const std::string request = fmt::format("GET {}{} HTTP/1.0\r\nHost: {}\r\nAccept: */*\r\n\r\n",
                                          url->prefix, path_and_query, url->authority);
  const Status sent = sendAll(socket->get(), request, entity, deadline_mono);
  if (!sent) return tl::unexpected(sent.error());
  return receive(socket->get(), entity, deadline_mono);
}

}  // namespace pingloom::http
