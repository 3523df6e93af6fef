// The tokens that let a peer in. Only their hashes are kept. Immutable; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "http/role.h"

namespace pingloom::http {

Digest digestOf(std::string_view text);
// In a time that does not tell where they differ.
bool equal(const Digest& a, const Digest& b);
// 32 bytes that nobody can guess, in hexadecimal.
std::string randomSecret();

constexpr std::size_t kMinToken = 32;
constexpr std::size_t kMaxToken = 256;

class Tokens {
 public:
  static constexpr std::size_t kMax = 64;
  static constexpr std::size_t kMaxFile = 64 * 1024;

  // Lines `read TOKEN [comment]` and `operate TOKEN [comment]`; empty ones and those that begin
  // with
  // '#' are left out. At least one token. The error's entity is file:line; it never has a token.
  static Result<Tokens> parse(std::string_view text, std::string_view file);
  // See readSecretFile().
  static Result<Tokens> load(const std::filesystem::path& file);

  // kNone: no such token. Takes as long for any.
  Role roleOf(const Digest& token) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Digest digest;
    Role role;
  };
  std::vector<Entry> entries_;
};

// For who asks: the file's only line is the token. See readSecretFile().
Result<std::string> loadToken(const std::filesystem::path& file);

}  // namespace pingloom::http
