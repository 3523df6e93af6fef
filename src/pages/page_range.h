// A contiguous range of memory that consists of single pages and is registered once for peers to
// read. Each place is filled once only, so that its contents belong to one owner as long as the
// range exists. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/error.h"
#include "pages/range_head.h"
#include "pingloom/page_format.h"
#include "rdma/domain.h"

namespace pingloom::pages {

class PageRange {
 public:
  // Reserves address space for `pages` pages, the first of which becomes the head.
  static Result<std::unique_ptr<PageRange>> reserve(std::size_t pages);
  ~PageRange();
  PageRange(const PageRange&) = delete;
  PageRange& operator=(const PageRange&) = delete;

  // Maps a page at a place. REQUIRES: every place is filled before registerWith().
  Status map(std::size_t place, int memfd);
  // Maps the page at another range's place here as well.
  Status share(std::size_t place, const PageRange& other, std::size_t other_place);
  // Registers the range. From then on the domain's peers can read it, and cannot do anything else.
  Status registerWith(rdma::Domain& domain);

  std::size_t pages() const { return pages_; }
  const rdma::MemoryRegion& region() const { return *region_; }
  // Applications may write it at any time.
  const pingloom_page* at(std::size_t place) const { return base_ + place; }

  // Says in a page's header how many traces its application's tracer should keep (page_format.h).
  // That is all that this process writes into a page.
  void setKeepOneIn(std::size_t place, std::uint32_t keep_one_in);

  // Writes the head; only this process writes it.
  void setHead(const RangeHead& head);
  void setDirectory(std::uint64_t version);
  void setMoved();

 private:
  PageRange() = default;
  RangeHead* head() const { return reinterpret_cast<RangeHead*>(base_); }

  pingloom_page* base_ = nullptr;
  std::size_t pages_ = 0;
  std::unique_ptr<rdma::MemoryRegion> region_;
};

}  // namespace pingloom::pages
