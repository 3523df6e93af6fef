// Memory that a device reads and writes. It owns both the bytes and their registration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

#include "rdma/verbs/handles.h"

namespace pingloom::rdma::verbs {

class RegisteredMemory {
 public:
  static constexpr std::size_t kPage = 4096;

  // The memory is zeroed; `bytes` is rounded up to whole pages.
  static Result<RegisteredMemory> create(ibv_pd* domain, std::size_t bytes,
                                         const std::string& entity);

  std::span<std::uint8_t> bytes() const { return {bytes_.get(), size_}; }
  std::uint32_t localKey() const { return region_->lkey; }

 private:
  struct Free {
    void operator()(std::uint8_t* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::uint8_t, Free> bytes_;
  std::size_t size_ = 0;
  MemoryRegionHandle region_;  // destroyed before the bytes
};

}  // namespace pingloom::rdma::verbs
