// A page's memory while it is nobody's or on its way: a sealed memfd of 4 KiB.
#pragma once

#include "common/error.h"
#include "common/fd.h"

namespace pingloom::pages {

// Can neither shrink nor grow, nor be sealed against writing; all zero.
Result<UniqueFd> makeMemfdPage();

// One that somebody else made: false where its size is wrong or could change under its readers, and
// where a range could not map it; if it can now, it always can.
bool isMemfdPage(int fd);

}  // namespace pingloom::pages
