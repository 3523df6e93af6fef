#include "controller/alerts/told.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "common/file.h"
#include "common/json_text.h"
#include "common/log.h"

namespace pingloom::controller {
namespace {

std::string toldText(const Told& told) {
  return jsonLine(IncidentJson{{"notifications", told.notifications},
                               {"ended", endedJson(told.ended)},
                               {"incident", toJson(told.incident)}});
}

Result<Told> toldFrom(std::string_view text) {
  try {
    const auto json = IncidentJson::parse(text);
    Told made;
    made.notifications = json.at("notifications").get<std::uint32_t>();
    made.ended = endedFrom(json.at("ended"));
    auto incident = incidentFrom(jsonLine(json.at("incident")));
    if (!incident) return tl::unexpected(incident.error());
    made.incident = std::move(*incident);
    return made;
  } catch (const std::exception& error) {
    return makeError("", fmt::format("malformed: {}", error.what()));
  }
}

}  // namespace

Result<ToldIncidents> ToldIncidents::open(const std::filesystem::path& folder) {
  ToldIncidents made(folder);
  if (auto status = makeDirectories(folder); !status) return tl::unexpected(status.error());
  if (auto status = made.readAll(); !status) return tl::unexpected(status.error());
  return made;
}

Status ToldIncidents::readAll() {
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(folder_, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path path = entry->path();
    if (path.extension() != ".json" || full()) continue;
    const auto text = readFile(path, kMaxFile);
    auto told = text ? toldFrom(*text) : tl::unexpected(text.error());
    if (told && incidentKey(told->incident) != path.stem().native()) {
      told = makeError("", "malformed: is about another incident");
    }
    if (told) {
      told_.emplace(path.stem().native(), std::move(*told));
      continue;
    }
    log::error("{}: {}; the incident may be told again", path.native(), told.error().reason);
    std::error_code ignored;
    std::filesystem::rename(path, path.native() + ".malformed", ignored);
  }
  if (error) return makeError(folder_.native(), "cannot list: " + error.message());
  return {};
}

Told* ToldIncidents::find(const std::string& key) {
  const auto found = told_.find(key);
  return found == told_.end() ? nullptr : &found->second;
}

Status ToldIncidents::keep(const std::string& key, Told told) {
  const std::string text = toldText(told);
  told_[key] = std::move(told);
  return writeFileAtomic(pathOf(key), text);
}

void ToldIncidents::forget(const std::string& key) {
  std::error_code ignored;
  std::filesystem::remove(pathOf(key), ignored);
  told_.erase(key);
}

}  // namespace pingloom::controller
