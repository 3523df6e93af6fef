// The memory of one page: a sealed memfd of PINGLOOM_PAGE_BYTES and its shared mapping. The
// application writes it, and the agent can too once it has the descriptor. Move-only.
#pragma once

#include <pingloom/page_format.h>

#include <utility>

#include "common/fd.h"

namespace pingloom::pages::client {

class PageMemory {
 public:
  PageMemory() = default;
  PageMemory(PageMemory&& other) noexcept
      : fd_(std::move(other.fd_)), page_(std::exchange(other.page_, nullptr)) {}
  PageMemory& operator=(PageMemory&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(page_, other.page_);
    return *this;
  }
  ~PageMemory();

  // Creates zeroed memory. The result has no page if the system is out of memory.
  static PageMemory make();
  // Takes memory from an agent and clears it. The result has no page unless the memory is sealed
  // like that of make(), because shrinking an unsealed memfd would kill this process.
  static PageMemory take(UniqueFd fd);

  // In a forked child it replaces the parent's memory by new memory at the same address. If none is
  // available it uses private memory, which no agent can map; only if the system refuses even that
  // does the parent's memory stay. Returns false in both cases.
  bool replace();

  pingloom_page* page() const { return page_; }
  int fd() const { return fd_.get(); }  // -1 if no agent can map it

 private:
  PageMemory(UniqueFd fd, pingloom_page* page) : fd_(std::move(fd)), page_(page) {}
  static PageMemory map(UniqueFd fd);

  UniqueFd fd_;
  pingloom_page* page_ = nullptr;
};

}  // namespace pingloom::pages::client
