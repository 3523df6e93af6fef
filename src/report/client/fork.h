// Lets forked children go on with their reporters. Any thread.
#pragma once

#include "report/client/reporter.h"

namespace pingloom::report::client {

// REQUIRES: unwatchForks() is called before the reporter is destroyed.
void watchForks(Reporter* reporter);
void unwatchForks(Reporter* reporter);

}  // namespace pingloom::report::client
