#include "controller/collectors/collector_view.h"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "common/json_text.h"
#include "common/text.h"

namespace pingloom::controller {
namespace {

using ViewJson = nlohmann::ordered_json;

// The documents have no more levels: agents, pages, metrics, and the quantiles of a summary or the
// labels of exemplars.
constexpr int kMaxDepth = 10;
// The documents have fewer. An object's members are looked up one after the other.
constexpr std::size_t kMaxMembers = 64;
constexpr std::size_t kMaxValues = 500'000;

// A kNumberIfKnown is null where it is missing or no number.
enum class Kind : std::uint8_t {
  kText,
  kTextOrNull,
  kCount,
  kNumber,
  kNumberOrNull,
  kNumberIfKnown,
  kFlag
};

struct KnownMember {
  std::string_view name;
  Kind kind;
};

constexpr auto kDeviation = std::to_array<KnownMember>({
    {"metric", Kind::kText},
    {"part", Kind::kTextOrNull},
    {"statistic", Kind::kText},
    {"score", Kind::kNumber},
    {"value", Kind::kNumberOrNull},
    {"peers", Kind::kNumberOrNull},
    {"usual", Kind::kNumberIfKnown},  // collectors of earlier versions do not say it
});
constexpr auto kApplication = std::to_array<KnownMember>({
    {"host", Kind::kText},
    {"application", Kind::kText},
    {"pid", Kind::kCount},
    {"owner", Kind::kCount},
    {"pages", Kind::kCount},
    {"metrics", Kind::kCount},
    {"state", Kind::kText},
    {"anomalous", Kind::kFlag},
    {"score", Kind::kNumberOrNull},
});
constexpr auto kEvent = std::to_array<KnownMember>({
    {"time", Kind::kText},
    {"kind", Kind::kText},
    {"began", Kind::kFlag},
    {"host", Kind::kText},
    {"application", Kind::kText},
    {"pid", Kind::kCount},
    {"owner", Kind::kCount},
    {"statistic", Kind::kTextOrNull},
    {"metric", Kind::kTextOrNull},
    {"value", Kind::kNumberOrNull},
    {"limit", Kind::kNumberOrNull},
});

bool fits(const ViewJson& value, Kind kind) {
  const bool text =
      value.is_string() && value.get_ref<const std::string&>().size() <= CollectorRecords::kMaxText;
  switch (kind) {
    case Kind::kText:
      return text;
    case Kind::kTextOrNull:
      return text || value.is_null();
    case Kind::kCount:
      return value.is_number_unsigned();
    case Kind::kNumber:
      return value.is_number();
    case Kind::kNumberOrNull:
    case Kind::kNumberIfKnown:
      return value.is_number() || value.is_null();
    case Kind::kFlag:
      break;
  }
  return value.is_boolean();
}

// Returns an object with these members only; nullopt if one is missing or of another type.
std::optional<ViewJson> picked(const ViewJson& from, std::span<const KnownMember> members) {
  if (!from.is_object()) return std::nullopt;
  ViewJson made = ViewJson::object();
  for (const KnownMember& member : members) {
    const auto found = from.find(member.name);
    const bool taken = found != from.end() && fits(*found, member.kind);
    if (!taken && member.kind != Kind::kNumberIfKnown) return std::nullopt;
    made[std::string(member.name)] = taken ? *found : ViewJson(nullptr);
  }
  return made;
}

std::optional<CollectorRecord> applicationOf(const ViewJson& from) {
  auto made = picked(from, kApplication);
  if (!made) return std::nullopt;
  const auto deviation = from.find("deviation");
  auto largest = deviation == from.end() ? std::nullopt : picked(*deviation, kDeviation);
  (*made)["deviation"] = largest ? std::move(*largest) : ViewJson(nullptr);
  return CollectorRecord{(*made)["host"].get<std::string>(), 0, jsonLine(*made)};
}

std::optional<CollectorRecord> eventOf(const ViewJson& from) {
  auto made = picked(from, kEvent);
  if (!made) return std::nullopt;
  const auto time = parseUtc((*made)["time"].get<std::string>());
  if (!time) return std::nullopt;
  ViewJson deviations = ViewJson::array();
  const auto listed = from.find("deviations");
  if (listed != from.end() && listed->is_array()) {
    for (const auto& deviation : *listed) {
      if (deviations.size() == CollectorRecords::kMaxDeviations) break;
      if (auto kept = picked(deviation, kDeviation)) deviations.push_back(std::move(*kept));
    }
  }
  (*made)["deviations"] = std::move(deviations);
  return CollectorRecord{(*made)["host"].get<std::string>(), *time, jsonLine(*made)};
}

std::string shortText(const ViewJson& value) {
  return value.is_null() ? "" : asOneLine(value.get<std::string>(), PageAnomaly::kMaxText);
}

std::optional<double> numberOrNone(const ViewJson& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

// Returns what is unusual about an application, as applicationOf() has made it.
std::optional<PageAnomaly> anomalyOf(const CollectorRecord& record) {
  const ViewJson json = ViewJson::parse(record.json, nullptr, false);
  const ViewJson& deviation = json.at("deviation");
  if (json.at("anomalous") != true || deviation.is_null()) return std::nullopt;
  return PageAnomaly{record.host,
                     shortText(json.at("application")),
                     shortText(deviation.at("metric")),
                     shortText(deviation.at("part")),
                     shortText(deviation.at("statistic")),
                     deviation.at("score").get<double>(),
                     numberOrNone(deviation.at("value")),
                     numberOrNone(deviation.at("peers"))};
}

// Watches the bounds of a document while it is parsed. What is beyond them is not kept, so that the
// rest of a hostile document takes no memory and little time.
class Bounds {
 public:
  // Returns whether to keep what has begun or ended.
  bool keep(int depth, ViewJson::parse_event_t event) {
    using Event = ViewJson::parse_event_t;
    if (event == Event::object_start) members_.push_back(0);
    if (event == Event::key) exceeded_ = exceeded_ || ++members_.back() > kMaxMembers;
    if (event == Event::object_end) members_.pop_back();
    exceeded_ = exceeded_ || depth > kMaxDepth || ++values_ > kMaxValues;
    return !exceeded_;
  }
  bool exceeded() const { return exceeded_; }

 private:
  std::vector<std::size_t> members_;  // of each object that is open
  std::size_t values_ = 0;
  bool exceeded_ = false;
};

ViewJson parsed(std::string_view text) {
  Bounds bounds;
  const auto bounded = [&](int depth, ViewJson::parse_event_t event, ViewJson&) {
    return bounds.keep(depth, event);
  };
  ViewJson made = ViewJson::parse(text, bounded, false);
  return bounds.exceeded() ? ViewJson() : made;
}

// Returns the list of a document; nullptr if it has none.
const ViewJson* listOf(const ViewJson& document, const char* key) {
  if (!document.is_object()) return nullptr;
  const auto found = document.find(key);
  return found != document.end() && found->is_array() ? &*found : nullptr;
}

// Keeps the last `most` objects of the list.
template <typename Read>
CollectorRecords recordsOf(const ViewJson& list, std::size_t most, Read read) {
  CollectorRecords made;
  const std::size_t skipped = list.size() > most ? list.size() - most : 0;
  made.beyond = skipped;
  for (std::size_t i = skipped; i < list.size(); ++i) {
    if (auto record = read(list[i])) {
      made.records.push_back(std::move(*record));
    } else {
      ++made.malformed;
    }
  }
  return made;
}

}  // namespace

Result<CollectorApplications> parseApplications(std::string_view text) {
  const ViewJson document = parsed(text);
  const ViewJson* list = listOf(document, "applications");
  if (list == nullptr) return makeError("/api/v1/applications", "its answer is malformed");
  CollectorApplications made;
  const auto watched = document.find("watched");
  made.watched = watched != document.end() && *watched == true;
  const auto events = document.find("events");
  if (events != document.end() && events->is_number_unsigned()) {
    made.events = events->get<std::uint64_t>();
  }
  made.applications = recordsOf(*list, CollectorRecords::kMaxApplications, applicationOf);
  for (const CollectorRecord& record : made.applications.records) {
    if (auto anomaly = anomalyOf(record)) made.anomalies.push_back(std::move(*anomaly));
  }
  return made;
}

Result<CollectorRecords> parseEvents(std::string_view text) {
  const ViewJson document = parsed(text);
  const ViewJson* list = listOf(document, "events");
  if (list == nullptr) return makeError("/api/v1/events", "its answer is malformed");
  return recordsOf(*list, CollectorRecords::kMaxEvents, eventOf);
}

bool isPagesDocument(std::string_view text) { return listOf(parsed(text), "agents") != nullptr; }

}  // namespace pingloom::controller
