// The memory of one page: a sealed memfd of PINGLOOM_PAGE_BYTES and its shared mapping. It is the
// application's to write, and the agent's once it has the descriptor too. Move-only.
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

  // New memory, all zero. Without a page when the system has none.
  static PageMemory make();
  // An agent's, cleared. Without a page unless it is what make() makes: were it not sealed, whoever
  // shortened it would kill this process.
  static PageMemory take(UniqueFd fd);

  // In a forked child: new memory at the same address instead of the parent's. When there is none,
  // private memory that no agent can have; only where the system refuses even that the parent's
  // stays. False in both cases.
  bool replace();

  pingloom_page* page() const { return page_; }
  int fd() const { return fd_.get(); }  // -1: no agent can have it

 private:
  PageMemory(UniqueFd fd, pingloom_page* page) : fd_(std::move(fd)), page_(page) {}
  static PageMemory map(UniqueFd fd);

  UniqueFd fd_;
  pingloom_page* page_ = nullptr;
};

}  // namespace pingloom::pages::client
