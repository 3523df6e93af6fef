// truth.py puts these parts together: a responder, a relay, and a witness.
#include <poll.h>

#include <cstdio>
#include <string>
#include <vector>

#include "common/duration.h"
#include "common/log.h"
#include "common/program.h"
#include "common/text.h"
#include "probe/transport.h"
#include "truth/capture.h"
#include "truth/relay.h"

namespace {

using namespace pingloom;

// Runs the agent's own UDP responder.
Status respond(const std::string& address, std::uint16_t port, int stop) {
  const auto listen = IpAddress::parse(address);
  if (!listen) return tl::unexpected(listen.error());
  const probe::WindowClock clock(0);
  probe::WindowQueue queue;
  probe::AgentContext context;
  context.listen = {*listen};
  context.port = port;
  context.incarnation = 1;
  context.clock = &clock;
  context.windows = &queue;
  const auto transports = probe::makeTransports(context);
  if (!transports) return tl::unexpected(transports.error());
  std::puts("ready");
  std::fflush(stdout);
  pollfd ready{stop, POLLIN, 0};
  while (poll(&ready, 1, -1) < 0) {
  }
  return {};
}

Status run(const std::vector<std::string>& words, int stop) {
  const std::string command = words.empty() ? "" : words[0];
  if (words.size() == 3 && command == "respond") {
    const auto port = parseUnsigned(words[2], 65535);
    if (!port) return tl::unexpected(port.error());
    return respond(words[1], static_cast<std::uint16_t>(*port), stop);
  }
  if (words.size() == 4 && command == "capture") {
    const auto port = parseUnsigned(words[2], 65535);
    if (!port) return tl::unexpected(port.error());
    return truth::capture(words[1], static_cast<std::uint16_t>(*port), words[3] == "all", stop);
  }
  if (words.size() == 4 && command == "relay") {
    const auto delay = parseDuration(words[3]);
    if (!delay) return tl::unexpected(delay.error());
    return truth::relay(words[1], words[2], *delay, stop);
  }
  return makeError("usage",
                   "truth_tool respond ADDRESS PORT | capture INTERFACE PORT all|arriving | "
                   "relay INTERFACE INTERFACE DELAY");
}

}  // namespace

int main(int argc, char** argv) {
  log::init("truth_tool", log::Level::kWarning);
  const UniqueFd stop = program::blockStopSignals();
  const auto done = run({argv + 1, argv + argc}, stop.get());
  if (done) return 0;
  std::fprintf(stderr, "truth_tool: %s\n", done.error().text().c_str());
  return 1;
}
