#include "controller/history/fence.h"

#include <fmt/format.h>

namespace pingloom::controller {
namespace {

// A renewal of the lease does not change the key, so it does not wait for this lock. The end of the
// session and the next epoch do.
constexpr const char* kCheckSession =
    "PERFORM 1 FROM pingloom_controllers WHERE session = {0} FOR KEY SHARE; IF NOT FOUND THEN "
    "RAISE EXCEPTION 'session {0} of this controller has ended, and nothing of it is written'; "
    "END IF; ";
constexpr const char* kCheckEpoch =
    "PERFORM 1 FROM pingloom_leader WHERE epoch = {0} FOR KEY SHARE; IF NOT FOUND THEN "
    "RAISE EXCEPTION 'epoch {0} is over, and another controller leads'; END IF; ";

}  // namespace

std::string fencedCommit(Fence::Held held, Writer writer) {
  std::string sql = "DO $fence$ BEGIN ";
  sql += fmt::format(kCheckSession, held.session);
  if (writer == Writer::kLeader) sql += fmt::format(kCheckEpoch, held.epoch);
  return sql + "END $fence$; COMMIT";
}

}  // namespace pingloom::controller
