// Exit codes of the commands besides 0 (done, and the answer is good) and program::kExitUsage (2,
// the command line is wrong). They let a script distinguish a bad answer from no answer.
#pragma once

namespace pingloom::cli {

// 1 stands for a bad answer. What that is depends on the command, and its --help says so.
constexpr int kExitInvalid = 1;       // check, plan: the file is invalid or lacks the host
constexpr int kExitUnhealthy = 1;     // status: an agent is down, an incident is open, ...
constexpr int kExitIncidents = 1;     // incidents: one is open that no silence hides
constexpr int kExitNotFresh = 1;      // mesh --check: a pair is stale, or there are no pairs
constexpr int kExitPageProblems = 1;  // pages --check: an agent is not read, a page is not fresh
constexpr int kExitNoRows = 1;        // results: no row exists, or none matches the filter
constexpr int kExitNoReply = 1;       // ping: nothing was received
constexpr int kExitReadFailed = 1;    // read: a READ failed or returned wrong contents
constexpr int kExitNoDevice = 1;      // devices: no device exists, or none has the address
constexpr int kExitKeysNotDone = 1;   // keys: a file could not be read or changed
constexpr int kExitNotDelivered = 1;  // alerts test: a place did not take the notification
constexpr int kExitNotCopied = 1;     // history copy: nothing was copied
constexpr int kExitNoKey = 1;         // dta get, count, top, path: no store has it
constexpr int kExitNoStore = 1;       // dta inspect: the file is no sound store

// 2 stands for no answer.
constexpr int kExitCouldNotRead = 2;  // check, plan: the given file cannot be read
constexpr int kExitCouldNotAsk =
    2;  // status, incidents, top, mesh, results, alerts, ...: the query failed

}  // namespace pingloom::cli
