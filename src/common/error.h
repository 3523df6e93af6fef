// Errors are values: built where they happen, with the entity they concern and the reason, passed
// up silently, and logged once, by whoever decides what to do about them.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace pingloom {

struct Error {
  std::string entity;  // what it concerns: a file with its line, an address, a socket
  std::string reason;  // why, in words an operator can act on

  std::string text() const { return entity.empty() ? reason : entity + ": " + reason; }
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> makeError(std::string_view entity, std::string_view reason) {
  return tl::unexpected<Error>(Error{std::string(entity), std::string(reason)});
}

// "ENTITY: WHAT: strerror(ERROR_NUMBER)".
tl::unexpected<Error> makeErrnoError(std::string_view entity, std::string_view what,
                                     int error_number);

}  // namespace pingloom
