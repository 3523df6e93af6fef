// Lets objects of a library survive fork(). Header only, so that libraries that link nothing else
// of pingloom can include it. Any thread.
#pragma once

#include <pthread.h>

#include <mutex>
#include <vector>

namespace pingloom {

// `Object` has holdForFork(), which keeps everybody else off the object until continueAfterFork(),
// and startAnewInChild(), which is called between the two in the child only.
template <typename Object>
class ForkWatch {
 public:
  // Handles forks from then on. REQUIRES: unwatch() is called before the object is destroyed.
  static void watch(Object* object) {
    static const int asked = pthread_atfork(beforeFork, inParent, inChild);
    static_cast<void>(asked);  // if this fails for want of memory, fork() fails as well
    const std::lock_guard lock(all().mutex);
    all().objects.push_back(object);
  }
  static void unwatch(Object* object) {
    const std::lock_guard lock(all().mutex);
    std::erase(all().objects, object);
  }

 private:
  struct Watched {
    std::mutex mutex;
    std::vector<Object*> objects;
  };

  // It is never destroyed, because a process may fork while it exits.
  static Watched& all() {
    static Watched& watched = *new Watched;
    return watched;
  }

  static void beforeFork() {
    all().mutex.lock();
    for (Object* object : all().objects) object->holdForFork();
  }
  static void inParent() {
    for (Object* object : all().objects) object->continueAfterFork();
    all().mutex.unlock();
  }
  static void inChild() {
    for (Object* object : all().objects) object->startAnewInChild();
    inParent();
  }
};

}  // namespace pingloom
