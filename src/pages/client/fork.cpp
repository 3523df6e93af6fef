#include "pages/client/fork.h"

#include <pthread.h>

#include <mutex>
#include <vector>

namespace pingloom::pages::client {

namespace {

struct Watched {
  std::mutex mutex;
  std::vector<Pages*> pages;
};

// It is never destroyed, because a process may fork while it exits.
Watched& watched() {
  static Watched& all = *new Watched;
  return all;
}

void beforeFork() {
  watched().mutex.lock();
  for (Pages* pages : watched().pages) pages->holdForFork();
}

void inParent() {
  for (Pages* pages : watched().pages) pages->continueAfterFork();
  watched().mutex.unlock();
}

void inChild() {
  for (Pages* pages : watched().pages) {
    pages->startAnewInChild();
    pages->continueAfterFork();
  }
  watched().mutex.unlock();
}

}  // namespace

void watchForks(Pages* pages) {
  static const int asked = pthread_atfork(beforeFork, inParent, inChild);
  static_cast<void>(asked);  // if this fails for want of memory, fork() fails as well
  const std::lock_guard lock(watched().mutex);
  watched().pages.push_back(pages);
}

void unwatchForks(Pages* pages) {
  const std::lock_guard lock(watched().mutex);
  std::erase(watched().pages, pages);
}

}  // namespace pingloom::pages::client
