// systemd's journal, where it takes this process' stderr.
#pragma once

namespace pingloom {

// Lines may then begin with their priority, "<3>" for an error (sd-daemon(3)).
bool stderrIsJournal();

}  // namespace pingloom
