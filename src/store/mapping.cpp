#include "store/mapping.h"

#include <cerrno>

namespace pingloom::store {

Result<Mapping> Mapping::of(int fd, std::size_t bytes, MapFor use, std::string_view entity) {
  const int protection = PROT_READ | (use == MapFor::kWriting ? PROT_WRITE : 0);
  void* const at = mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return makeErrnoError(entity, "cannot be mapped", errno);
  // Huge pages make random access cheaper; without them everything works.
  madvise(at, bytes, MADV_HUGEPAGE);
  Mapping made;
  made.memory_ = {static_cast<std::uint8_t*>(at), bytes};
  return made;
}

}  // namespace pingloom::store
