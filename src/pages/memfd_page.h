// The memory of a page outside a range: a sealed memfd of 4 KiB.
#pragma once

#include "common/error.h"
#include "common/fd.h"

namespace pingloom::pages {

// Creates a zeroed memfd that can neither shrink nor grow, and cannot be sealed against writing.
Result<UniqueFd> makeMemfdPage();

// Checks a memfd from another process. Returns false if its size is wrong or could change under its
// readers, or if a range could not map it. A memfd that passes stays valid for good.
bool isMemfdPage(int fd);

}  // namespace pingloom::pages
