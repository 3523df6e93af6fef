// Exit codes of the commands besides 0 (done, and what it found is good) and program::kExitUsage
// (2, the command line is wrong). Scripts tell by them an answer that is not good from none at all.
#pragma once

namespace pingloom::cli {

// 1: an answer that is not good. Each command has its own, as its --help says.
constexpr int kExitInvalid = 1;    // check, plan: the file is not valid, or has no such host
constexpr int kExitUnhealthy = 1;  // status: an agent is down, the pinglist is rejected, ...
constexpr int kExitNotFresh = 1;   // mesh --check: a pair has no fresh result, or there is no pair
constexpr int kExitPageProblems = 1;  // pages --check: an agent is not read, a page is not fresh
constexpr int kExitNoRows = 1;        // results: there is no row, or none that the filter lets pass
constexpr int kExitNoReply = 1;       // ping: nothing was received
constexpr int kExitReadFailed = 1;    // read: a READ failed, or brought other contents
constexpr int kExitNoDevice = 1;      // devices: there is none, or none for the address
constexpr int kExitKeysNotDone = 1;   // keys: a file was not read or not changed

// 2: no answer.
constexpr int kExitCouldNotRead = 2;  // check, plan: a file that they were given cannot be used
constexpr int kExitCouldNotAsk = 2;   // status, top, mesh, results, pages: or an option is wrong

}  // namespace pingloom::cli
