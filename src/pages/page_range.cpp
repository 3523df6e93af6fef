#include "pages/page_range.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>

namespace pingloom::pages {
namespace {

constexpr const char* kEntity = "metric pages";

}  // namespace

Result<std::unique_ptr<PageRange>> PageRange::reserve(std::size_t pages) {
  std::unique_ptr<PageRange> made(new PageRange);
  void* base = mmap(nullptr, pages * PINGLOOM_PAGE_BYTES, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return makeErrnoError(kEntity, "no address space for the range", errno);
  made->base_ = static_cast<pingloom_page*>(base);
  made->pages_ = pages;
  return made;
}

PageRange::~PageRange() {
  region_.reset();
  munmap(base_, pages_ * PINGLOOM_PAGE_BYTES);
}

Status PageRange::map(std::size_t place, int memfd) {
  if (mmap(base_ + place, PINGLOOM_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
           memfd, 0) == MAP_FAILED) {
    return makeErrnoError(kEntity, "cannot map a page", errno);
  }
  return {};
}

Status PageRange::share(std::size_t place, const PageRange& other, std::size_t other_place) {
  // With an old size of 0 mremap creates a second mapping of the same shared page.
  if (mremap(other.base_ + other_place, 0, PINGLOOM_PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
             base_ + place) == MAP_FAILED) {
    return makeErrnoError(kEntity, "cannot map a page a second time", errno);
  }
  return {};
}

Status PageRange::registerWith(rdma::Domain& domain) {
  const std::span<std::uint8_t> memory(reinterpret_cast<std::uint8_t*>(base_),
                                       pages_ * PINGLOOM_PAGE_BYTES);
  auto region = domain.registerMemory(memory, rdma::Access::kRead);
  if (!region) return tl::unexpected(region.error());
  region_ = std::move(*region);
  return {};
}

void PageRange::setKeepOneIn(std::size_t place, std::uint32_t keep_one_in) {
  const std::atomic_ref said(base_[place].header.keep_one_in);
  // A store would take the header's cache line from the application.
  if (said.load(std::memory_order_relaxed) == keep_one_in) return;
  said.store(keep_one_in, std::memory_order_relaxed);
}

void PageRange::setHead(const RangeHead& head_now) { *head() = head_now; }

void PageRange::setDirectory(std::uint64_t version) {
  std::atomic_ref(head()->directory).store(version, std::memory_order_release);
}

void PageRange::setMoved() {
  std::atomic_ref(head()->state)
      .store(static_cast<std::uint16_t>(RangeState::kMoved), std::memory_order_release);
}

}  // namespace pingloom::pages
