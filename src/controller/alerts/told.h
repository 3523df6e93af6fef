// What a target was told about each incident that it believes to be open, on disk, so that a
// restart neither repeats a notification nor forgets that an incident ended. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/error.h"
#include "controller/alerts/notification.h"

namespace pingloom::controller {

struct Told {
  Incident incident;  // as it was told last
  std::vector<EndedSeverity> ended;
  std::uint32_t notifications = 0;  // how many there were; it makes their keys differ
  // These are not kept on disk.
  Nanos told_mono = 0;     // 0: not since the start
  Nanos missing_mono = 0;  // since when no verdict has the incident; 0: the last one had it
};

class ToldIncidents {
 public:
  static constexpr std::size_t kMax = 1000;
  static constexpr std::size_t kMaxFile = 256U << 10;
  using Map = std::map<std::string, Told>;  // by incidentKey()

  // Makes the folder and reads what is there; what cannot be read is left out and logged.
  static Result<ToldIncidents> open(const std::filesystem::path& folder);

  const Map& all() const { return told_; }
  Map& all() { return told_; }
  Told* find(const std::string& key);
  bool full() const { return told_.size() >= kMax; }
  // Remembers it, here and on disk.
  Status keep(const std::string& key, Told told);
  void forget(const std::string& key);

 private:
  explicit ToldIncidents(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Status readAll();
  std::filesystem::path pathOf(const std::string& key) const { return folder_ / (key + ".json"); }

  std::filesystem::path folder_;
  Map told_;
};

}  // namespace pingloom::controller
