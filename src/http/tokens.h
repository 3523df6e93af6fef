// The tokens that a server accepts. Only their hashes are kept. Immutable; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "http/role.h"

namespace pingloom::http {

Digest digestOf(std::string_view text);
// Compares in constant time.
bool equal(const Digest& a, const Digest& b);
// Returns 32 bytes from the system's random generator, in hexadecimal.
std::string randomSecret();

constexpr std::size_t kMinToken = 32;
constexpr std::size_t kMaxToken = 256;

class Tokens {
 public:
  static constexpr std::size_t kMax = 64;
  static constexpr std::size_t kMaxFile = 64 * 1024;

  // Parses lines `read TOKEN [comment]`, or with another role but kNone, of which there has to be
  // at least one; empty lines and lines that begin with '#' are ignored. The error names file:line
  // and never contains a token.
  static Result<Tokens> parse(std::string_view text, std::string_view file);
  // See readSecretFile().
  static Result<Tokens> load(const std::filesystem::path& file);

  // Returns kNone for an unknown token. The time is the same for every token.
  Role roleOf(const Digest& token) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Digest digest;
    Role role;
  };
  std::vector<Entry> entries_;
};

// Loads a client's token, which is the file's only line. See readSecretFile().
Result<std::string> loadToken(const std::filesystem::path& file);

}  // namespace pingloom::http
