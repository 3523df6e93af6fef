#include "pages/client/fork.h"

#include "common/fork_watch.h"

namespace pingloom::pages::client {

void watchForks(Pages* pages) { ForkWatch<Pages>::watch(pages); }
void unwatchForks(Pages* pages) { ForkWatch<Pages>::unwatch(pages); }

}  // namespace pingloom::pages::client
