#include "pages/client/environment.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "pages/definition_rules.h"

namespace pingloom::pages::client {

namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Yields nothing if a percent sign is not followed by two hexadecimal digits.
std::optional<std::string> percentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (text.size() - i < 3 || hexDigit(text[i + 1]) < 0 || hexDigit(text[i + 2]) < 0) return {};
    decoded += static_cast<char>(hexDigit(text[i + 1]) * 16 + hexDigit(text[i + 2]));
    i += 2;
  }
  return decoded;
}

// Turns a key into a label's name: k8s.pod.name becomes k8s_pod_name.
std::string labelName(std::string key) {
  for (char& c : key) {
    const bool kept =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!kept) c = '_';
  }
  return key;
}

// Yields nothing if the entry is malformed.
std::optional<Label> readEntry(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return {};
  std::optional<std::string> key = percentDecoded(trimmed(entry.substr(0, equals)));
  std::optional<std::string> value = percentDecoded(trimmed(entry.substr(equals + 1)));
  if (!key || !value || key->empty()) return {};
  return Label{labelName(std::move(*key)), std::move(*value)};
}

std::vector<Label>::iterator labelNamed(std::vector<Label>* labels, const std::string& name) {
  return std::find_if(labels->begin(), labels->end(),
                      [&name](const Label& label) { return label.name == name; });
}

// An empty value is the same as no label to Prometheus, and summaries refuse their own label.
bool isUseful(const Label& label) {
  return isLabelName(label.name) && label.name != kQuantileLabel && !label.value.empty() &&
         label.value.size() <= kMaxLabelBytes && isText(label.value);
}

// A later entry of the same name replaces an earlier one, as in OpenTelemetry.
void keep(Label label, std::vector<Label>* labels) {
  if (!isUseful(label)) return;
  if (const auto same = labelNamed(labels, label.name); same != labels->end()) {
    same->value = std::move(label.value);
  } else if (labels->size() < kMaxLabels) {
    labels->push_back(std::move(label));
  }
}

Outcome discarded(std::string_view why) {
  return {PINGLOOM_BAD_ARGUMENT,
          std::string(kAttributesVariable) + " is ignored: " + std::string(why)};
}

}  // namespace

Outcome readAttributes(const char* text, std::vector<Label>* labels) {
  if (text == nullptr) return {};
  const std::string_view all(text, strnlen(text, kMaxAttributesBytes + 1));
  if (all.size() > kMaxAttributesBytes) {
    return discarded("it is longer than " + std::to_string(kMaxAttributesBytes) + " bytes");
  }
  std::vector<Label> read;
  std::size_t number = 0;
  for (std::size_t at = 0; at <= all.size();) {
    const std::size_t end = std::min(all.find(',', at), all.size());
    const std::string_view entry = trimmed(all.substr(at, end - at));
    at = end + 1;
    ++number;
    if (entry.empty()) continue;
    std::optional<Label> label = readEntry(entry);
    if (!label) {
      return discarded("entry " + std::to_string(number) + " is no percent-encoded key=value");
    }
    keep(std::move(*label), &read);
  }
  *labels = std::move(read);
  return {};
}

std::string applicationName(const char* service, const char* otherwise) {
  if (service != nullptr) {
    std::string name(service, strnlen(service, kMaxApplicationBytes + 1));
    if (checkApplication(name).ok()) return name;
  }
  return otherwise;
}

bool addEnvironment(const std::vector<Label>& environment, const std::vector<Label>& common,
                    std::vector<Label>* labels) {
  const std::size_t own = labels->size();
  for (const Label& label : environment) {
    if (labels->size() + common.size() >= kMaxLabels) break;
    const auto same = [&label](const Label& other) { return other.name == label.name; };
    if (std::any_of(common.begin(), common.end(), same) ||
        std::any_of(labels->begin(), labels->end(), same)) {
      continue;
    }
    labels->push_back(label);
  }
  std::sort(labels->begin(), labels->end());
  return labels->size() > own;
}

}  // namespace pingloom::pages::client
