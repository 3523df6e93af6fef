#include "keys/reporter_key.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "common/hex.h"
#include "common/random.h"
#include "common/secret_file.h"
#include "common/text.h"
#include "keys/new_file.h"
#include "wire/report_key_text.h"

namespace pingloom::keys {
namespace {

constexpr std::size_t kMaxKeyFileBytes = 4096;

}  // namespace

Result<wire::ReportKey> readReporterKey(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored) && !ignored) {
    return makeError(file.string(),
                     "is not there, the reporter's key; `pingloom keys reporter FILE` makes one");
  }
  const auto content = readSecretFile(file, kMaxKeyFileBytes, SecretOwner::kSelfOrRoot);
  if (!content) return tl::unexpected(content.error());
  const auto key = wire::parseReportKey(trimmed(*content));
  if (key) return *key;
  return makeError(
      file.string(),
      "holds no key of 32 hexadecimal digits; `pingloom keys reporter FILE` makes one");
}

Status makeReporterKey(const std::filesystem::path& file) {
  wire::ReportKey key{};
  for (std::size_t at = 0; at < key.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t random = randomU64();
    std::memcpy(key.data() + at, &random, sizeof random);
  }
  const std::string_view bytes(reinterpret_cast<const char*>(key.data()), key.size());
  return writeNewFile(file, 0600, hexOf(bytes) + "\n");
}

}  // namespace pingloom::keys
