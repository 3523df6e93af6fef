// What the answering side has to refuse, what the asking side makes of it, and that both go on.
#pragma once

#include "connection.h"

namespace pingloom::lab {

void refusals(Connection& connection);

}  // namespace pingloom::lab
