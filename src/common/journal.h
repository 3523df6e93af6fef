// Detects whether systemd's journal reads this process' stderr.
#pragma once

namespace pingloom {

// If so, lines may begin with their priority, e.g. "<3>" for an error (sd-daemon(3)).
bool stderrIsJournal();

}  // namespace pingloom
