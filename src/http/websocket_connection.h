// A WebSocket from its upgrade to its end. Internal to src/http. The HTTP thread.
#pragma once

#include <memory>

#include "http/byte_stream.h"
#include "http/connection.h"
#include "http/request_check.h"

namespace pingloom::http {

// Answers the upgrade, and then carries messages between the peer and the endpoint.
void serveWebSocket(ByteStream stream, std::shared_ptr<Service> service,
                    std::unique_ptr<ConnectionSlot> slot, const Pass& pass,
                    WebSocketEndpoint& endpoint, const BeastRequest& upgrade);

}  // namespace pingloom::http
