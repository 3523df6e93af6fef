#include "pages/memfd_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "pingloom/page_format.h"

namespace pingloom::pages {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// Tells whether a range can map it. That fails if it was opened for one direction only or is sealed
// against writing.
bool isMappable(int fd) {
  void* mapped = mmap(nullptr, PINGLOOM_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return mapped != MAP_FAILED && munmap(mapped, PINGLOOM_PAGE_BYTES) == 0;
}

}  // namespace

Result<UniqueFd> makeMemfdPage() {
  UniqueFd made(memfd_create("pingloom-page", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!made.valid() || ftruncate(made.get(), PINGLOOM_PAGE_BYTES) != 0 ||
      fcntl(made.get(), F_ADD_SEALS, kSeals) != 0) {
    return makeErrnoError("metric page", "cannot be made", errno);
  }
  return made;
}

bool isMemfdPage(int fd) {
  struct stat about {};
  // Only memfds can be sealed.
  const int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & kSeals) == kSeals && fstat(fd, &about) == 0 &&
         about.st_size == PINGLOOM_PAGE_BYTES && isMappable(fd);
}

}  // namespace pingloom::pages
