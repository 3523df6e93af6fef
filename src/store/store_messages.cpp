#include "store/store_messages.h"

#include <optional>

#include "common/text.h"
#include "rdma/rc_message.h"
#include "store.pb.h"

namespace pingloom::store {
namespace {

Result<ConnectReply> malformedReply(std::string_view what) {
  return makeError("the collector's answer", what);
}

Result<ConnectReply> readConnected(const wire::StoreConnected& message) {
  const auto endpoint = rdma::readEndpoint(message.endpoint());
  if (!endpoint) return malformedReply("has a malformed endpoint");
  auto head = decodeHead(
      {reinterpret_cast<const std::uint8_t*>(message.head().data()), message.head().size()});
  if (!head) return tl::unexpected(head.error());
  if (head->epoch != message.epoch()) return malformedReply("has two epochs");
  return Connected{*endpoint, message.address(), message.rkey(), std::move(*head)};
}

Result<ConnectReply> readNames(const wire::StoreNames& message) {
  StoreNames names;
  if (message.translators_size() > static_cast<int>(kMaxStores)) {
    return malformedReply("names too many stores");
  }
  for (const std::string& name : message.translators()) {
    if (!isName(name)) return malformedReply("has an impossible name");
    names.translators.push_back(name);
  }
  return names;
}

void writeConnect(const ConnectRequest& request, wire::StoreConnect& out) {
  out.set_translator(request.translator);
  out.set_incarnation(request.incarnation);
  out.set_read_only(request.purpose == Purpose::kRead);
  rdma::writeEndpoint(request.endpoint, *out.mutable_endpoint());
}

std::optional<ConnectRequest> readConnect(const wire::StoreConnect& message) {
  const auto endpoint = rdma::readEndpoint(message.endpoint());
  if (!endpoint || !isName(message.translator())) return std::nullopt;
  return ConnectRequest{message.translator(), message.incarnation(), *endpoint,
                        message.read_only() ? Purpose::kRead : Purpose::kWrite};
}

}  // namespace

std::string encodeRequest(const Request& request) {
  wire::StoreRequest message;
  message.set_version(kStoreControlVersion);
  if (const auto* connects = std::get_if<ConnectRequest>(&request)) {
    writeConnect(*connects, *message.mutable_connect());
  } else if (const auto* leaves = std::get_if<LeaveRequest>(&request)) {
    writeConnect(leaves->began, *message.mutable_leave());
  } else {
    message.mutable_list();
  }
  return message.SerializeAsString();
}

tl::expected<Request, BadRequest> decodeRequest(std::string_view bytes) {
  wire::StoreRequest message;
  if (bytes.empty() || bytes.size() > kMaxRequestBytes ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return tl::unexpected(BadRequest::kMalformed);
  }
  if (message.version() != kStoreControlVersion) return tl::unexpected(BadRequest::kVersion);
  if (message.has_list()) return ListRequest{};
  const auto named = readConnect(message.has_leave() ? message.leave() : message.connect());
  if (!named) return tl::unexpected(BadRequest::kMalformed);
  if (message.has_leave()) return LeaveRequest{*named};
  return *named;
}

std::string encodeReply(const ConnectReply& reply) {
  wire::StoreReply message;
  message.set_version(kStoreControlVersion);
  if (const auto* refused = std::get_if<Refused>(&reply)) {
    message.mutable_refused()->set_reason(asOneLine(refused->reason, kMaxReason));
    message.mutable_refused()->set_permanent(refused->permanent);
    return message.SerializeAsString();
  }
  if (const auto* names = std::get_if<StoreNames>(&reply)) {
    auto& out = *message.mutable_names()->mutable_translators();
    out.Assign(names->translators.begin(), names->translators.end());
    return message.SerializeAsString();
  }
  if (std::holds_alternative<Left>(reply)) {
    message.mutable_left();
    return message.SerializeAsString();
  }
  const auto& connected = std::get<Connected>(reply);
  wire::StoreConnected& out = *message.mutable_connected();
  rdma::writeEndpoint(connected.endpoint, *out.mutable_endpoint());
  out.set_address(connected.address);
  out.set_rkey(connected.rkey);
  out.set_epoch(connected.head.epoch);
  const HeadPage page = encodeHead(connected.head);
  out.set_head(page.data(), page.size());
  return message.SerializeAsString();
}

Result<ConnectReply> decodeReply(std::string_view bytes) {
  wire::StoreReply message;
  if (bytes.empty() || bytes.size() > kMaxReplyBytes ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return malformedReply("is malformed");
  }
  if (message.version() != kStoreControlVersion) return malformedReply("is of another version");
  if (message.has_refused()) {
    return Refused{asOneLine(message.refused().reason(), kMaxReason),
                   message.refused().permanent()};
  }
  if (message.has_left()) return Left{};
  if (message.has_names()) return readNames(message.names());
  if (!message.has_connected()) return malformedReply("says nothing");
  return readConnected(message.connected());
}

}  // namespace pingloom::store
