// The address of a translator as reporters write it. Pure functions; any thread.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>

namespace pingloom::report::client {

struct SocketName {
  sockaddr_storage address{};
  socklen_t length = 0;
};

// Reads ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT; the default port is wire::kReportPort. Names are
// not resolved, because that may block.
std::optional<SocketName> parseTranslator(const std::string& text);

}  // namespace pingloom::report::client
