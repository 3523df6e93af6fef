// Answers /api/v1/dta/tables, /get, /count, /top, /path and /tail from the stores (docs/dta.md).
// Any thread.
#pragma once

#include "collector/stores/store_service.h"
#include "http/message.h"

namespace pingloom::collector {

constexpr std::string_view kStoreApi = "/api/v1/dta/";

// `service` is nullptr if no stores are configured; it outlives a later answer. REQUIRES: the path
// begins with kStoreApi.
http::Answer answerStores(StoreService* service, const http::Request& request, Nanos now_utc);

}  // namespace pingloom::collector
