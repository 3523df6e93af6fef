#include "common/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "common/duration.h"
#include "common/text.h"

namespace pingloom::yaml {

namespace {

constexpr std::size_t kMaxKeyShown = 64;

}  // namespace

struct Node::Impl {
  YAML::Node node;
  std::shared_ptr<const std::string> file;
  YAML::Mark mark;
  std::string path;  // the path of keys, e.g. "spool.max_size"; a list's items have the list's path

  static Node wrap(const YAML::Node& node, std::shared_ptr<const std::string> file,
                   std::string path = "") {
    return Node(std::make_shared<Impl>(Impl{node, std::move(file), node.Mark(), std::move(path)}));
  }
  // A missing value has the place of its key, and not that of the following text.
  static Node wrapValue(const YAML::Node& key, const YAML::Node& value, const Impl& parent) {
    std::string path = parent.path;
    if (key.IsScalar() && key.Scalar().size() <= kMaxKeyShown) {
      path += (path.empty() ? "" : ".") + key.Scalar();
    }
    return Node(std::make_shared<Impl>(
        Impl{value, parent.file, value.IsNull() ? key.Mark() : value.Mark(), std::move(path)}));
  }
};

namespace {

std::string placeOf(const std::string& file, const YAML::Mark& mark) {
  if (mark.is_null()) return file;
  return file + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

std::string placeOf(const std::string& file, std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return file + ":" + std::to_string(line) + ":" + std::to_string(at - line_start + 1);
}

// Handles events of a parser that only checks whether a document exists.
class Ignored : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {}
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}
  void OnMapEnd() override {}
};

// Not by YAML::LoadAll: in some texts (a comma alone) it finds empty documents until the memory is
// used up.
bool hasSecondDocument(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Ignored events;
  return parser.HandleNextDocument(events) && parser.HandleNextDocument(events);
}

// YAML has none but these three.
std::size_t controlCharacterAt(std::string_view text) {
  const auto found = std::find_if(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
  });
  return found == text.end() ? std::string_view::npos
                             : static_cast<std::size_t>(found - text.begin());
}

}  // namespace

Result<Node> parse(std::string_view text, std::string_view file) {
  auto name = std::make_shared<const std::string>(file);
  // Names go into JSON documents, which have to be UTF-8.
  if (const auto bad = invalidUtf8At(text); bad != std::string_view::npos) {
    return makeError(placeOf(*name, text, bad), "is not UTF-8 text");
  }
  if (const auto bad = controlCharacterAt(text); bad != std::string_view::npos) {
    return makeError(placeOf(*name, text, bad), "is a control character, which is no text");
  }
  try {
    if (hasSecondDocument(std::string(text))) {
      return makeError(*name, "has more than one YAML document");
    }
    return Node::Impl::wrap(YAML::Load(std::string(text)), std::move(name));
  } catch (const YAML::Exception& failure) {
    return makeError(placeOf(*name, failure.mark), failure.msg);
  }
}

bool Node::isNull() const { return impl_->node.IsNull(); }
bool Node::isScalar() const { return impl_->node.IsScalar(); }
bool Node::isSequence() const { return impl_->node.IsSequence(); }
bool Node::isMap() const { return impl_->node.IsMap(); }

const std::string& Node::file() const { return *impl_->file; }

std::string Node::place() const { return placeOf(*impl_->file, impl_->mark); }

tl::unexpected<Error> Node::error(std::string_view reason) const {
  const std::string& path = impl_->path;
  return makeError(place(), path.empty() ? std::string(reason) : path + ": " + std::string(reason));
}

Result<std::string> Node::text() const {
  if (!isScalar()) return error("expected a single value");
  return impl_->node.Scalar();
}

Result<Nanos> Node::duration() const {
  auto scalar = text();
  if (!scalar) return tl::unexpected(scalar.error());
  auto parsed = parseDuration(*scalar);
  if (!parsed) return error(parsed.error().text());
  return parsed;
}

Result<std::uint64_t> Node::number(std::uint64_t smallest, std::uint64_t largest) const {
  auto scalar = text();
  if (!scalar) return tl::unexpected(scalar.error());
  auto parsed = parseUnsigned(*scalar, largest);
  if (!parsed || *parsed < smallest) {
    return error("'" + *scalar + "' is not a whole number from " + std::to_string(smallest) +
                 " to " + std::to_string(largest));
  }
  return parsed;
}

Result<bool> Node::boolean() const {
  auto scalar = text();
  if (!scalar) return tl::unexpected(scalar.error());
  if (*scalar == "true") return true;
  if (*scalar == "false") return false;
  return error("'" + *scalar + "' is neither true nor false");
}

std::vector<Node> Node::items() const {
  std::vector<Node> made;
  if (!isSequence()) return made;
  for (const auto& item : impl_->node) made.push_back(Impl::wrap(item, impl_->file, impl_->path));
  return made;
}

std::vector<std::pair<Node, Node>> Node::entries() const {
  std::vector<std::pair<Node, Node>> made;
  if (!isMap()) return made;
  for (const auto& entry : impl_->node) {
    made.emplace_back(Impl::wrap(entry.first, impl_->file, impl_->path),
                      Impl::wrapValue(entry.first, entry.second, *impl_));
  }
  return made;
}

std::optional<Node> Node::find(std::string_view key) const {
  for (auto& [name, value] : entries()) {
    if (name.isScalar() && name.impl_->node.Scalar() == key) return value;
  }
  return std::nullopt;
}

std::string Node::written() const { return YAML::Dump(impl_->node); }

Status Node::uniqueKeys() const {
  if (!isMap()) return error("expected keys with values");
  std::set<std::string> seen;
  for (const auto& [key, value] : entries()) {
    auto name = key.text();
    if (!name) return tl::unexpected(name.error());
    if (!seen.insert(*name).second) return key.error("key '" + *name + "' is here twice");
  }
  return {};
}

Status Node::onlyKeys(const std::vector<std::string_view>& known) const {
  if (auto status = uniqueKeys(); !status) return status;
  for (const auto& [key, value] : entries()) {
    const std::string name = *key.text();
    bool found = false;
    for (const std::string_view candidate : known) found = found || candidate == name;
    if (!found) return key.error("unknown key '" + name + "'" + didYouMean(name, known));
  }
  return {};
}

}  // namespace pingloom::yaml
