#include "pages/client/page_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

namespace pingloom::pages::client {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

UniqueFd sealedMemfd() {
  UniqueFd fd(memfd_create("pingloom-page", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid() || ftruncate(fd.get(), PINGLOOM_PAGE_BYTES) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
    return UniqueFd();
  }
  return fd;
}

bool isSealedPage(int fd) {
  struct stat status {};
  const int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & kSeals) == kSeals && fstat(fd, &status) == 0 &&
         status.st_size == PINGLOOM_PAGE_BYTES;
}

}  // namespace

PageMemory::~PageMemory() {
  if (page_ != nullptr) munmap(page_, PINGLOOM_PAGE_BYTES);
}

PageMemory PageMemory::map(UniqueFd fd) {
  if (!fd.valid()) return {};
  void* at = mmap(nullptr, PINGLOOM_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return {};
  return {std::move(fd), static_cast<pingloom_page*>(at)};
}

PageMemory PageMemory::make() { return map(sealedMemfd()); }

PageMemory PageMemory::take(UniqueFd fd) {
  if (!isSealedPage(fd.get())) return {};
  PageMemory memory = map(std::move(fd));
  if (memory.page_ != nullptr) std::memset(memory.page_, 0, PINGLOOM_PAGE_BYTES);
  return memory;
}

bool PageMemory::replace() {
  UniqueFd fd = sealedMemfd();
  constexpr int kAccess = PROT_READ | PROT_WRITE;
  if (fd.valid() && mmap(page_, PINGLOOM_PAGE_BYTES, kAccess, MAP_SHARED | MAP_FIXED, fd.get(),
                         0) != MAP_FAILED) {
    fd_ = std::move(fd);
    return true;
  }
  fd_.reset();
  (void)mmap(page_, PINGLOOM_PAGE_BYTES, kAccess, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  return false;
}

}  // namespace pingloom::pages::client
