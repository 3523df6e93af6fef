#include "report/client/fork.h"

#include "common/fork_watch.h"

namespace pingloom::report::client {

void watchForks(Reporter* reporter) { ForkWatch<Reporter>::watch(reporter); }
void unwatchForks(Reporter* reporter) { ForkWatch<Reporter>::unwatch(reporter); }

}  // namespace pingloom::report::client
