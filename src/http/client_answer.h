// Reads the answer to a client's request from its connection. Internal to src/http. Any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "common/error.h"
#include "http/client.h"

namespace pingloom::http {

// Appends the bytes received and returns their number; 0 at the end.
using ReceiveSome = std::function<Result<std::size_t>(std::string&)>;

struct AnswerRules {
  std::size_t most = kMaxClientBody;
  bool cut = false;      // a longer body is cut off; otherwise it is an error
  bool chunked = false;  // whether the body may come in chunks, as HTTP/1.1 allows
};

Result<ClientResponse> receiveAnswer(const ReceiveSome& receive_some, const AnswerRules& rules,
                                     const std::string& entity);

}  // namespace pingloom::http
