// Keeps parent and child apart when the process forks: the child's pages are its own, zero, at the
// same addresses, so that every handle stays good in both.
#pragma once

#include "pages/client/pages.h"

namespace pingloom::pages::client {

void watchForks(Pages* pages);    // from when on forks are seen to
void unwatchForks(Pages* pages);  // before it is destroyed

}  // namespace pingloom::pages::client
