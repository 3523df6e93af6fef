#include "http/tokens.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>

#include "common/random.h"
#include "common/secret_file.h"

namespace pingloom::http {
namespace {

constexpr std::string_view kBlanks = " \t\r";

// Removes the next word from `rest` and returns it; "" where there is none.
std::string_view nextWord(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  return word;
}

std::string_view nextLine(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  return line;
}

// Returns what is wrong with a token; "" where nothing is. A token is visible ASCII so that it fits
// into a header.
std::string faultOf(std::string_view token) {
  if (token.size() < kMinToken || token.size() > kMaxToken) {
    return fmt::format("a token has {} to {} characters; make one with 'openssl rand -hex 32'",
                       kMinToken, kMaxToken);
  }
  const bool visible = std::all_of(token.begin(), token.end(), [](char c) {
    return c > ' ' && c < '\x7f' && c != ';' && c != ',' && c != '"';
  });
  return visible ? "" : "a token has visible ASCII characters only, without ; , and \"";
}

// Returns kNone for a word that names no role of a token.
Role roleNamed(std::string_view word) {
  for (const Role role : {Role::kRead, Role::kCollect, Role::kOperate}) {
    if (word == name(role)) return role;
  }
  return Role::kNone;
}

}  // namespace

Digest digestOf(std::string_view text) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

bool equal(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string randomSecret() {
  return fmt::format("{:016x}{:016x}{:016x}{:016x}", randomU64(), randomU64(), randomU64(),
                     randomU64());
}

Result<Tokens> Tokens::parse(std::string_view text, std::string_view file) {
  Tokens tokens;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = nextLine(text);
    const std::string place = fmt::format("{}:{}", file, number);
    const std::string_view role = nextWord(line);
    if (role.empty() || role.front() == '#') continue;
    // The error does not show the word, which may be a token.
    const Role named = roleNamed(role);
    if (named == Role::kNone) {
      return makeError(
          place, "write 'read TOKEN [comment]', 'collect TOKEN' or 'operate TOKEN [comment]'");
    }
    const std::string_view token = nextWord(line);
    if (const std::string fault = faultOf(token); !fault.empty()) return makeError(place, fault);
    const Digest digest = digestOf(token);
    if (tokens.roleOf(digest) != Role::kNone) {
      return makeError(place, "the same token is in a line above");
    }
    if (tokens.entries_.size() == kMax) {
      return makeError(place, fmt::format("more than {} tokens", kMax));
    }
    tokens.entries_.push_back({digest, named});
  }
  if (tokens.entries_.empty()) {
    return makeError(file, "has no token; write 'read TOKEN [comment]' or 'operate TOKEN'");
  }
  return tokens;
}

Result<Tokens> Tokens::load(const std::filesystem::path& file) {
  const auto text = readSecretFile(file, kMaxFile);
  if (!text) return tl::unexpected(text.error());
  return parse(*text, file.string());
}

Role Tokens::roleOf(const Digest& token) const {
  Role found = Role::kNone;
  for (const Entry& entry : entries_) {
    if (equal(entry.digest, token)) found = entry.role;
  }
  return found;
}

Result<std::string> loadToken(const std::filesystem::path& file) {
  const auto text = readSecretFile(file, Tokens::kMaxFile);
  if (!text) return tl::unexpected(text.error());
  std::string_view rest = *text;
  std::string token;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    std::string_view line = nextLine(rest);
    const std::string_view word = nextWord(line);
    if (word.empty() || word.front() == '#') continue;
    std::string fault = faultOf(word);
    if (!nextWord(line).empty() || !token.empty()) fault = "the file must have one line, the token";
    if (!fault.empty()) return makeError(fmt::format("{}:{}", file.string(), number), fault);
    token = word;
  }
  if (token.empty()) return makeError(file.string(), "is empty; its only line must be the token");
  return token;
}

}  // namespace pingloom::http
