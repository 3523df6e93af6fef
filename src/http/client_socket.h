// A connection that never blocks beyond a deadline. Internal to src/http. Any thread; the errors'
// entity is the one given.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"
#include "http/url.h"

namespace pingloom::http {

// By when the next of a host's addresses has to answer: a silent one leaves those after it time.
Nanos deadlineOfNext(std::size_t addresses_left, Nanos now_mono, Nanos deadline_mono);
// To the first of the host's addresses that answers.
Result<UniqueFd> connectTo(const Url& url, const std::string& entity, Nanos deadline_mono);
Status sendAll(int socket, std::string_view data, const std::string& entity, Nanos deadline_mono);
// One more piece, appended; 0 at the end.
Result<std::size_t> receiveSome(int socket, std::string& out, const std::string& entity,
                                Nanos deadline_mono);

}  // namespace pingloom::http
