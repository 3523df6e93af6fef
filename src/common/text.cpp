#include "common/text.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace pingloom {
namespace {

// Returns the optimal string alignment distance: insertions, deletions, substitutions, swapped
// neighbours.
std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  std::iota(last.begin(), last.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

// Returns how many bytes to keep so that at most `most` remain and no UTF-8 character is split.
std::size_t wholeCharacters(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return most;
}

}  // namespace

Result<std::uint64_t> parseUnsigned(std::string_view text, std::uint64_t largest) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > largest) {
    return makeError("'" + std::string(text) + "'",
                     "not a whole number from 0 to " + std::to_string(largest));
  }
  return value;
}

std::string closestWord(std::string_view word, const std::vector<std::string_view>& candidates) {
  if (word.size() > 64) return "";  // the distance is quadratic, and such a word is no typo
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    // the distance is at least that large
    if (candidate.size() >= word.size() + best_distance) continue;
    const std::size_t distance = editDistance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return std::string(best);
}

std::string didYouMean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string best = closestWord(word, candidates);
  return best.empty() ? "" : " (did you mean '" + best + "'?)";
}

void shorten(std::string& text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return;
  text.resize(wholeCharacters(text, most_bytes));
  text += "...";
}

bool isOneWord(std::string_view text) {
  return !hasControls(text) && text.find(' ') == std::string_view::npos;
}

bool equalsIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string asOneLine(std::string text, std::size_t max_bytes) {
  text.resize(wholeCharacters(text, max_bytes));
  std::replace_if(
      text.begin(), text.end(),
      [](char c) {
        return hasControls({&c, 1});
      },
      ' ');
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (!joined.empty()) joined += separator;
    joined += part;
  }
  return joined;
}

}  // namespace pingloom
