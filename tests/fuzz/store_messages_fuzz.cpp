// A request or an answer about stores that is understood says the same when it is written again.
#include <google/protobuf/stubs/logging.h>

#include <cstdlib>

#include "store/store_messages.h"

namespace {

using namespace pingloom::store;

bool same(const Request& a, const Request& b) {
  if (a.index() != b.index()) return false;
  if (const auto* one = std::get_if<ConnectRequest>(&a)) return *one == std::get<ConnectRequest>(b);
  const auto* leaves = std::get_if<LeaveRequest>(&a);
  return leaves == nullptr || leaves->began == std::get<LeaveRequest>(b).began;
}

bool same(const Connected& a, const Connected& b) {
  return a.endpoint == b.endpoint && a.address == b.address && a.rkey == b.rkey && a.head == b.head;
}

bool same(const ConnectReply& a, const ConnectReply& b) {
  if (a.index() != b.index()) return false;
  if (const auto* one = std::get_if<Connected>(&a)) return same(*one, std::get<Connected>(b));
  if (const auto* one = std::get_if<StoreNames>(&a)) {
    return one->translators == std::get<StoreNames>(b).translators;
  }
  const auto* refused = std::get_if<Refused>(&a);
  if (refused == nullptr) return true;
  const auto& other = std::get<Refused>(b);
  return refused->reason == other.reason && refused->permanent == other.permanent;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  google::protobuf::SetLogHandler(nullptr);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = decodeRequest(bytes)) {
    const auto again = decodeRequest(encodeRequest(*request));
    if (!again || !same(*request, *again)) std::abort();
  }
  if (const auto reply = decodeReply(bytes)) {
    const auto again = decodeReply(encodeReply(*reply));
    if (!again || !same(*reply, *again)) std::abort();
  }
  return 0;
}
