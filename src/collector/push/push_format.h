// A protocol in which metrics are pushed. A format belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/exposition.h"
#include "common/time.h"

namespace pingloom::collector {

// What one HTTP request carries.
struct PushRequest {
  std::string body;
  std::string encoding;  // the body's Content-Encoding; "" if it has none
  std::size_t samples = 0;
  Nanos made = 0;  // monotonic
};

// What a receiver rejects of a request that it takes.
struct PushRejection {
  std::uint64_t samples = 0;
  std::string reason;
};

class PushFormat {
 public:
  PushFormat() = default;
  virtual ~PushFormat() = default;
  PushFormat(const PushFormat&) = delete;
  PushFormat& operator=(const PushFormat&) = delete;

  // The values that are written are those of `now_utc`, which requests() is then given, too.
  virtual Exposition::MakeWriter writer(Nanos now_utc) const = 0;
  // Divides what writers have written into requests, in the order in which they have to arrive.
  // `now` is monotonic.
  virtual std::vector<PushRequest> requests(std::string written, Nanos now_utc, Nanos now) = 0;
  // Reads the body of an answer of status 2xx; a malformed one says nothing.
  virtual PushRejection rejectionIn(const std::string& /*body*/) const { return {}; }
  // Tells whether a request that gets an answer of this status is repeated, because the receiver
  // may take it later. Other statuses than 2xx refuse it for good.
  virtual bool isRepeatedAfter(unsigned status) const = 0;
  virtual std::string contentType() const = 0;
  // Further headers of all requests.
  virtual std::vector<std::pair<std::string, std::string>> headers() const = 0;
};

}  // namespace pingloom::collector
