// PageOwners <-> wire::PageOwners (control.proto). Any thread; no state.
#pragma once

#include "common/error.h"
#include "common/page_owner.h"
#include "control.pb.h"

namespace pingloom::wire {

void encode(const pingloom::PageOwners& owners, PageOwners& out);
// The bytes come from outside: more than PageOwners::kMax owners, or one that is malformed, are
// refused.
Result<pingloom::PageOwners> decode(const PageOwners& in);

}  // namespace pingloom::wire
