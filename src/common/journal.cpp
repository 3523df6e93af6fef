#include "common/journal.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace pingloom {

// JOURNAL_STREAM names the device and inode of the journal's pipe; stderr may have been redirected
// since.
bool stderrIsJournal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat error_stream {};
  return stream != nullptr && fstat(STDERR_FILENO, &error_stream) == 0 &&
         fmt::format("{}:{}", error_stream.st_dev, error_stream.st_ino) == stream;
}

}  // namespace pingloom
