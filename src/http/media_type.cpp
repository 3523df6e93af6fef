#include "http/media_type.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "common/text.h"

namespace pingloom::http {
namespace {

constexpr unsigned kWhole = 1000;

// What stands before the next separator, which is taken off `rest` with it.
std::string_view next(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return trimmed(part);
}

// "0.75" in thousandths; 0 where it is none.
unsigned weightOf(std::string_view text) {
  if (text.empty() || (text[0] != '0' && text[0] != '1')) return 0;
  unsigned weight = text[0] == '1' ? kWhole : 0;
  unsigned unit = kWhole / 10;
  for (std::size_t i = 2; i < text.size() && text[1] == '.'; ++i, unit /= 10) {
    if (text[i] < '0' || text[i] > '9') return 0;
    weight += static_cast<unsigned>(text[i] - '0') * unit;
  }
  return std::min(weight, kWhole);
}

// How exactly a range names a type: 1 "*/*", 2 "text/*", 3 "text/csv"; 0: not at all. An encoding
// is a type without a major one: "*" is 2, and "gzip" 3.
unsigned exactness(std::string_view range, std::string_view type) {
  if (equalsIgnoringCase(range, type)) return 3;
  const std::size_t major = type.find('/') + 1;
  if (range.size() == major + 1 && range.back() == '*' &&
      equalsIgnoringCase(range.substr(0, major), type.substr(0, major))) {
    return 2;
  }
  return range == "*/*" ? 1 : 0;
}

// Weight and exactness of the range that names it most exactly; 0: it is not wanted.
std::tuple<unsigned, unsigned> standingOf(std::string_view type, std::string_view accept) {
  unsigned best_weight = 0;
  unsigned best_exactness = 0;
  while (!accept.empty()) {
    std::string_view parameters = next(accept, ',');
    const unsigned exact = exactness(next(parameters, ';'), type);
    if (exact <= best_exactness) continue;
    unsigned weight = kWhole;
    while (!parameters.empty()) {
      const std::string_view parameter = next(parameters, ';');
      if (equalsIgnoringCase(parameter.substr(0, 2), "q=")) weight = weightOf(parameter.substr(2));
    }
    best_weight = weight;
    best_exactness = exact;
  }
  return {best_weight, best_weight == 0 ? 0 : best_exactness};
}

}  // namespace

bool prefers(std::string_view accept, std::string_view wanted, std::string_view usual) {
  return standingOf(wanted, accept) > standingOf(usual, accept);
}

bool allowsGzip(std::string_view accept_encoding) {
  const auto [weight, exact] = standingOf("gzip", accept_encoding);
  return weight > 0;
}

bool isJson(std::string_view content_type) {
  const std::string_view kind = content_type.substr(0, content_type.find(';'));
  std::string plain;
  for (const char c : kind) {
    if (c != ' ' && c != '\t') plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  return plain == "application/json";
}

}  // namespace pingloom::http
