// What no honest peer sends, and every refusal that there is, to kernel Soft-RoCE and to a soft
// endpoint alike.
#pragma once

#include "raw_peer.h"

namespace pingloom::lab {

void forged(Host& subject, RawPeer& peer);

}  // namespace pingloom::lab
