// Small helpers on text that several parsers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace pingloom {

// Digits only, at most `largest`.
Result<std::uint64_t> parseUnsigned(std::string_view text, std::uint64_t largest);

// The candidate nearest to `word` when it is near enough to be what was meant, otherwise "".
std::string closestWord(std::string_view word, const std::vector<std::string_view>& candidates);

// " (did you mean 'interval'?)" or "".
std::string didYouMean(std::string_view word, const std::vector<std::string_view>& candidates);

// Where the first byte is that is not UTF-8 (RFC 3629); npos where all of it is.
std::size_t invalidUtf8At(std::string_view text);

// Longer UTF-8 text becomes its first so many bytes, without half a character, and "...".
void shorten(std::string& text, std::size_t most_bytes);

// A byte that a terminal or a log would act upon: below a blank, or DEL.
bool hasControls(std::string_view text);
// Has neither blanks nor control characters.
bool isOneWord(std::string_view text);

// Without the spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace pingloom
