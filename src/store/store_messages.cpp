#include "store/store_messages.h"

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

}  // namespace

std::string encodeRequest(const ConnectRequest& request) {
  wire::StoreRequest message;
  message.set_version(kStoreControlVersion);
  wire::StoreConnect& connect = *message.mutable_connect();
  connect.set_translator(request.translator);
  connect.set_incarnation(request.incarnation);
  rdma::writeEndpoint(request.endpoint, *connect.mutable_endpoint());
  return message.SerializeAsString();
}

tl::expected<ConnectRequest, BadRequest> decodeRequest(std::string_view bytes) {
  wire::StoreRequest message;
  if (bytes.empty() || bytes.size() > kMaxRequestBytes ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return tl::unexpected(BadRequest::kMalformed);
  }
  if (message.version() != kStoreControlVersion) return tl::unexpected(BadRequest::kVersion);
  const auto endpoint = rdma::readEndpoint(message.connect().endpoint());
  if (!endpoint || !isName(message.connect().translator())) {
    return tl::unexpected(BadRequest::kMalformed);
  }
  return ConnectRequest{message.connect().translator(), message.connect().incarnation(), *endpoint};
}

std::string encodeReply(const ConnectReply& reply) {
  wire::StoreReply message;
  message.set_version(kStoreControlVersion);
  if (const auto* refused = std::get_if<Refused>(&reply)) {
    message.mutable_refused()->set_reason(asOneLine(refused->reason, kMaxReason));
    message.mutable_refused()->set_permanent(refused->permanent);
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
  if (!message.has_connected()) return malformedReply("says nothing");
  return readConnected(message.connected());
}

}  // namespace pingloom::store
