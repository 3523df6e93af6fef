#include "cli/input_file.h"

#include <array>
#include <iostream>
#include <vector>

#include "common/file.h"
#include "common/text.h"
#include "common/yaml.h"

namespace pingloom::cli {
namespace {

constexpr std::size_t kMaxFileBytes = 64U << 20;

struct TellingKey {
  std::string_view key;
  FileKind kind;
};

// Each of these keys belongs to one kind of file; the first one that the file has decides.
constexpr std::array<TellingKey, 23> kTellingKeys = {
    {{"version", FileKind::kPinglist},
     {"probes", FileKind::kPinglist},
     {"mesh", FileKind::kPinglist},
     {"arrow", FileKind::kPinglist},
     {"hosts", FileKind::kPinglist},
     {"defaults", FileKind::kPinglist},
     // These precede 'address', which a translator's configuration has too.
     {"collector", FileKind::kTranslatorConfig},
     {"reporters", FileKind::kTranslatorConfig},
     {"published", FileKind::kTranslatorConfig},
     // This precedes 'controller', which an agent's configuration has too.
     {"address", FileKind::kCollectorConfig},
     {"agents", FileKind::kCollectorConfig},
     {"interval", FileKind::kCollectorConfig},
     {"analytics", FileKind::kCollectorConfig},
     {"controller", FileKind::kAgentConfig},
     {"spool", FileKind::kAgentConfig},
     {"addresses", FileKind::kAgentConfig},
     {"host", FileKind::kAgentConfig},
     {"pinglist", FileKind::kControllerConfig},
     {"redis", FileKind::kControllerConfig},
     {"limits", FileKind::kControllerConfig},
     {"history", FileKind::kControllerConfig},
     {"control", FileKind::kControllerConfig},
     {"web_root", FileKind::kControllerConfig}}};

}  // namespace

Result<std::string> readInputFile(const std::string& file) { return readFile(file, kMaxFileBytes); }

Result<FileKind> fileKindOf(std::string_view text, std::string_view file) {
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  if (root->isNull()) return makeError(file, "is empty");
  constexpr std::string_view kNone = "neither a pinglist nor a configuration of pingloom";
  if (!root->isMap()) return root->error(kNone);
  const auto entries = root->entries();
  std::vector<std::string_view> words;
  for (const TellingKey& telling : kTellingKeys) {
    words.push_back(telling.key);
    if (root->find(telling.key)) return telling.kind;
  }
  for (const auto& [key, value] : entries) {
    const auto name = key.text();
    const std::string hint = name ? didYouMean(*name, words) : "";
    if (!hint.empty()) return key.error("unknown key '" + *name + "'" + hint);
  }
  return root->error(kNone);
}

int failFile(const Error& error, int code) {
  std::cerr << error.text() << "\n";
  return code;
}

}  // namespace pingloom::cli
