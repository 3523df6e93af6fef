// Separates parent and child when the process forks. The child gets its own zeroed pages at the
// same addresses, so that every handle stays valid in both: Pages::startAnewInChild().
#pragma once

#include "pages/client/pages.h"

namespace pingloom::pages::client {

void watchForks(Pages* pages);    // handles forks from then on
void unwatchForks(Pages* pages);  // must be called before destruction

}  // namespace pingloom::pages::client
