// Produces the commands that keep the incidents' keys of docs/redis-keys.md up to date, and the
// lines about them in the stream of events. It remembers what was written last. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "controller/model/incident.h"
#include "controller/redis/resp.h"

namespace pingloom::controller {

class IncidentKeys {
 public:
  static constexpr std::string_view kOpenKey = "pingloom:incidents:open";
  // A closed incident's key stays so long.
  static constexpr Nanos kClosedLife = 24 * kHour;

  static std::string key(std::uint64_t id);

  // Forgets what Redis holds, after a lost connection: the next write() replaces everything.
  void forget();
  void write(const Verdict& verdict, Commands& out);

 private:
  struct Written {
    Nanos updated_utc = 0;
    std::uint64_t silenced_by = 0;
    Severity severity = Severity::kNone;
    bool open = false;
  };
  void writeOne(const Incident& incident, Commands& out);
  static void writeEvent(const Incident& incident, std::string_view change, Commands& out);

  std::map<std::uint64_t, Written> written_;  // open ones, and those closed lately
  bool all_ = true;
};

}  // namespace pingloom::controller
