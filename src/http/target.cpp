#include "http/target.h"

#include <algorithm>
#include <optional>

#include "common/hex.h"

namespace pingloom::http {
namespace {

constexpr std::size_t kMaxParameters = 64;

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const auto byte = hexByte(text[i + 1], text[i + 2]);
      if (!byte) return std::nullopt;
      out += static_cast<char>(*byte);
      i += 2;
    }
  }
  return out;
}

bool isPlainSegment(std::string_view segment) {
  if (segment == "." || segment == "..") return false;
  for (const char c : segment) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '/' || c == '\\') return false;
  }
  return true;
}

Result<std::string> decodePath(std::string_view raw) {
  std::string path;
  while (!raw.empty()) {
    raw.remove_prefix(1);  // the '/'
    const std::size_t end = std::min(raw.find('/'), raw.size());
    const auto segment = decode(raw.substr(0, end), false);
    if (!segment) return makeError("path", "malformed percent-encoding");
    if (!isPlainSegment(*segment)) return makeError("path", "has a segment that is no plain name");
    path += '/';
    path += *segment;
    raw.remove_prefix(end);
  }
  return path;
}

}  // namespace

Result<Target> parseTarget(std::string_view target) {
  if (target.empty() || target.front() != '/') {
    return makeError("target", "must begin with '/'");
  }
  const std::size_t question = std::min(target.find('?'), target.size());
  auto path = decodePath(target.substr(0, question));
  if (!path) return tl::unexpected(path.error());
  Target parsed{std::move(*path), {}, {}};

  std::string_view query = target.substr(question);
  while (!query.empty()) {
    query.remove_prefix(1);  // '?' or '&'
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view parameter = query.substr(0, end);
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    const auto name = decode(parameter.substr(0, equals), true);
    const auto value = decode(parameter.substr(std::min(equals + 1, parameter.size())), true);
    if (!name || !value) return makeError("query", "malformed percent-encoding");
    if (!parameter.empty()) {
      const bool first = parsed.query.insert_or_assign(*name, *value).second;
      if (!first) parsed.doubled = *name;
    }
    if (parsed.query.size() > kMaxParameters) return makeError("query", "too many parameters");
    query.remove_prefix(end);
  }
  return parsed;
}

}  // namespace pingloom::http
