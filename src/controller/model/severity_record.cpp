#include "controller/model/severity_record.h"

#include <algorithm>
#include <array>

namespace pingloom::controller {
namespace {

constexpr std::size_t kV4Bytes = 4;
constexpr std::size_t kV6Bytes = 16;
constexpr unsigned kV6Bit = 0x80;  // of the byte with a severity: the address has 16 bytes

Severity mostFrequent(const SourceSnapshot& snapshot) {
  std::array<std::size_t, kSeverityNames.size()> counts{};
  for (std::size_t i = 0; i < snapshot.states.size(); ++i) {
    if (snapshot.states[i]) ++counts[static_cast<std::size_t>(snapshot.severityOf(i))];
  }
  return static_cast<Severity>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

}  // namespace

Severity SourceSeverities::of(const IpAddress& destination) const {
  const auto found =
      std::lower_bound(others.begin(), others.end(), destination,
                       [](const auto& each, const IpAddress& at) { return each.first < at; });
  return found != others.end() && found->first == destination ? found->second : usual;
}

std::string encodeSeverities(const ProbeGrid& probe, const SourceSnapshot& snapshot) {
  const Severity usual = mostFrequent(snapshot);
  std::string content(1, static_cast<char>(usual));
  for (std::size_t i = 0; i < snapshot.states.size(); ++i) {
    const Severity severity = snapshot.severityOf(i);
    if (!snapshot.states[i] || severity == usual) continue;
    const std::string address = probe.destinations[i].wire();
    const unsigned kind = address.size() == kV4Bytes ? 0 : kV6Bit;
    content += static_cast<char>(static_cast<unsigned>(severity) | kind);
    content += address;
  }
  return content;
}

std::string encodeNoSeverities() { return {static_cast<char>(Severity::kNone)}; }

std::optional<SourceSeverities> decodeSeverities(std::string_view content) {
  if (content.empty()) return std::nullopt;
  const auto usual = severityNumbered(static_cast<unsigned char>(content.front()));
  if (!usual) return std::nullopt;
  SourceSeverities made{*usual, {}};
  content.remove_prefix(1);
  while (!content.empty()) {
    const unsigned kind = static_cast<unsigned char>(content.front());
    const std::size_t length = (kind & kV6Bit) != 0 ? kV6Bytes : kV4Bytes;
    const auto severity = severityNumbered(kind & ~kV6Bit);
    const auto address = IpAddress::fromWire(content.substr(1, length));
    if (!severity || !address || content.size() <= length) return std::nullopt;
    made.others.emplace_back(*address, *severity);
    content.remove_prefix(1 + length);
  }
  const auto by_address = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(made.others.begin(), made.others.end(), by_address)) return std::nullopt;
  return made;
}

}  // namespace pingloom::controller
