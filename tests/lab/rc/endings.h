// How connections end: by a peer that is killed, and a thousand times in good order.
#pragma once

#include "connection.h"

namespace pingloom::lab {

// The answering side is a process of its own and is killed in the middle of READs.
void peerKilled(const Place& asker, const Place& answerer);
// `rxe_device`: whose queue pairs and regions are counted, "rxe1".
void connectsAndDisconnects(Connection& connection, int rounds, const std::string& rxe_device);

}  // namespace pingloom::lab
