// Answers /api/v1/dta/tables and /api/v1/dta/get?table=T&key=K from the stores (docs/dta.md). Any
// thread.
#pragma once

#include "collector/stores/store_service.h"
#include "http/message.h"

namespace pingloom::collector {

constexpr std::string_view kStoreApi = "/api/v1/dta/";

// `service` is nullptr if no stores are configured. REQUIRES: the path begins with kStoreApi.
http::Response answerStores(const StoreService* service, const http::Request& request,
                            Nanos now_utc);

}  // namespace pingloom::collector
