// A peer's connection to a store: its translator's, or a reader's. It has a protection domain of
// its own, in which nothing but the store's region is registered, without the head page. One
// thread: the device's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/error.h"
#include "common/time.h"
#include "net/curve_key.h"
#include "rdma/device.h"
#include "store/store_file.h"
#include "store/store_messages.h"

namespace pingloom::collector {

class StoreLink {
 public:
  // Makes an endpoint that permits what the request is for, and connects it. REQUIRES: the device
  // and the file outlive the link.
  static Result<std::unique_ptr<StoreLink>> make(const store::StoreFile& file,
                                                 const store::ConnectRequest& request,
                                                 rdma::Device& device);
  StoreLink(const StoreLink&) = delete;
  StoreLink& operator=(const StoreLink&) = delete;

  const store::ConnectRequest& request() const { return request_; }
  // REQUIRES: the endpoint is connected.
  store::Connected describe() const;
  rdma::RcEndpoint& endpoint() const { return *endpoint_; }

  std::string route;                 // where the answer goes
  std::optional<net::CurveKey> key;  // the peer's; nullopt without keys
  Nanos heard = 0;                   // when its last request came
  bool connecting = true;            // whether the answer is still due

 private:
  StoreLink(const store::StoreFile& file, store::ConnectRequest request)
      : file_(file), request_(std::move(request)) {}

  // The members are destroyed from the last to the first.
  const store::StoreFile& file_;
  const store::ConnectRequest request_;
  std::unique_ptr<rdma::Domain> domain_;
  std::unique_ptr<rdma::MemoryRegion> region_;
  std::unique_ptr<rdma::RcEndpoint> endpoint_;
};

}  // namespace pingloom::collector
