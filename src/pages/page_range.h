// One contiguous piece of memory made of single pages, registered once for peers to read. A place
// is filled once and never again: what a reader finds there is of one owner for as long as the
// range lives. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/error.h"
#include "pages/range_head.h"
#include "pingloom/page_format.h"
#include "rdma/device.h"

namespace pingloom::pages {

class PageRange {
 public:
  // Address space for `pages` pages, the first of which becomes the head.
  static Result<std::unique_ptr<PageRange>> reserve(std::size_t pages);
  ~PageRange();
  PageRange(const PageRange&) = delete;
  PageRange& operator=(const PageRange&) = delete;

  // Fills a place. All are filled before registerWith().
  Status map(std::size_t place, int memfd);
  // With the page that lies at another range's place, which stays there too.
  Status share(std::size_t place, const PageRange& other, std::size_t other_place);
  // From then on the device's peers can read it, nothing else.
  Status registerWith(rdma::Device& device);

  std::size_t pages() const { return pages_; }
  const rdma::MemoryRegion& region() const { return *region_; }
  // Applications may write it at any time.
  const pingloom_page* at(std::size_t place) const { return base_ + place; }

  // The head: written by this process alone.
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
