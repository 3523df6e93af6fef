#include "common/error.h"

#include <system_error>

namespace pingloom {

tl::unexpected<Error> makeErrnoError(std::string_view entity, std::string_view what,
                                     int error_number) {
  return makeError(entity,
                   std::string(what) + ": " + std::generic_category().message(error_number));
}

}  // namespace pingloom
