// Small helpers on text that several parsers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/utf8.h"

namespace pingloom {

// Parses digits only; the value must be at most `largest`.
Result<std::uint64_t> parseUnsigned(std::string_view text, std::uint64_t largest);

// Returns the candidate nearest to `word` if it is near enough, otherwise "".
std::string closestWord(std::string_view word, const std::vector<std::string_view>& candidates);

// Returns e.g. " (did you mean 'interval'?)", or "".
std::string didYouMean(std::string_view word, const std::vector<std::string_view>& candidates);

// Truncates longer UTF-8 text to so many bytes without splitting a character, and appends "...".
void shorten(std::string& text, std::size_t most_bytes);

// Tells whether the text has neither blanks nor control characters.
bool isOneWord(std::string_view text);

// Compares ASCII letters without regard to case.
bool equalsIgnoringCase(std::string_view a, std::string_view b);

// Makes text from another process fit for a log line: cut to so many bytes, with blanks instead of
// control characters.
std::string asOneLine(std::string text, std::size_t max_bytes);

// Returns the text without surrounding spaces, tabs and line ends.
std::string_view trimmed(std::string_view text);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace pingloom
