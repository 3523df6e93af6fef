// cppzmq reports failures as exceptions and pingloom reports them as values: these functions are
// the border between the two. A call that finds nothing to receive, or no room to send, returns an
// empty optional and throws nothing.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <type_traits>
#include <zmq.hpp>

#include "common/error.h"

namespace pingloom::net {

// The value that `call` returns; what it throws becomes the error "ENTITY: WHAT: cause".
template <typename Call>
Result<std::invoke_result_t<Call>> zmqCall(std::string_view entity, std::string_view what,
                                           Call&& call) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (const zmq::error_t& error) {
    return makeError(entity, std::string(what) + ": " + error.what());
  }
}

// The value that `call` returns, or `otherwise` when ZeroMQ fails: the context ends, the peer has
// gone, or a signal interrupted the call.
template <typename Value, typename Call>
Value zmqValue(Value otherwise, Call&& call) {
  try {
    return call();
  } catch (const zmq::error_t&) {
    return otherwise;
  }
}

// The value that `call` returns; repeats it while a signal interrupts it. Throws other failures.
template <typename Call>
auto zmqUninterrupted(Call&& call) {
  for (;;) {
    try {
      return call();
    } catch (const zmq::error_t& error) {
      if (error.num() != EINTR) throw;
    }
  }
}

}  // namespace pingloom::net
