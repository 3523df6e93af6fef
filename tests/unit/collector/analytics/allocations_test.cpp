#include "allocations.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>

namespace {

std::atomic<std::uint64_t> counted{0};

}  // namespace

// A sanitizer's malloc is its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

#if !defined(SANITIZED) && defined(__GLIBC__)

extern "C" void* __libc_malloc(std::size_t bytes);

extern "C" void* malloc(std::size_t bytes) {
  counted.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}

TEST(Allocations, AreCounted) {
  const auto before = pingloom::collector::analytics::allocations();
  const auto some = std::make_unique<int>(1);
  EXPECT_GT(pingloom::collector::analytics::allocations(), before);
}

#endif

namespace pingloom::collector::analytics {

std::uint64_t allocations() { return counted.load(); }

}  // namespace pingloom::collector::analytics
