// Incidents, silences and maintenance in the ledger's file (ledger_schema.h), each as its JSON
// document. They are kept as best effort, like events. One thread at a time. Bounds: the history's
// age for closed incidents, and kMaxIncidents; silences and maintenance as in IncidentKeeper.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "controller/history/sql/database.h"
#include "controller/model/incident.h"

namespace pingloom::controller {

class VerdictStore {
 public:
  static constexpr std::int64_t kMaxIncidents = 100'000;
  static constexpr Nanos kTrimInterval = kMinute;

  // Adds the table to a file that an earlier version made. The database outlives the store.
  static Result<VerdictStore> open(Database& database);

  // Writes in the transaction that is open. A record without a document removes what it names.
  Status write(std::span<const VerdictRecord> records);
  // Returns all silences and maintenance, the incidents that are open or were closed after
  // `closed_after_utc`, and the one with the highest id.
  Result<std::vector<VerdictRecord>> load(Nanos closed_after_utc);
  // Does something at most once in kTrimInterval.
  Status trim(Nanos retention, Nanos now_utc);

 private:
  Statement put_;
  Statement remove_;
  Statement load_;
  Statement remove_old_;
  Statement remove_many_;
  Nanos trimmed_utc_ = 0;
};

// Selects incidents that were open at some time in [from, until), the newest first. Called on the
// thread of the History.
struct IncidentQuery {
  Nanos from_utc = 0;
  Nanos until_utc = 0;
  std::size_t limit = 0;
};
Result<std::vector<std::string>> readIncidents(Database& database, const IncidentQuery& query);
// Returns the document of an incident; "" where there is none.
Result<std::string> readIncident(Database& database, std::uint64_t id);

}  // namespace pingloom::controller
