// Errors are values. They are built where they occur, with the entity and the reason, travel up
// silently, and are logged once, where they are decided.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace pingloom {

struct Error {
  std::string entity;  // what the error concerns: a file with its line, an address, a socket
  std::string reason;  // the reason, in words that an operator can act on

  std::string text() const { return entity.empty() ? reason : entity + ": " + reason; }
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> makeError(std::string_view entity, std::string_view reason) {
  return tl::unexpected<Error>(Error{std::string(entity), std::string(reason)});
}

// Makes the error "ENTITY: WHAT: strerror(ERROR_NUMBER)".
tl::unexpected<Error> makeErrnoError(std::string_view entity, std::string_view what,
                                     int error_number);

}  // namespace pingloom
