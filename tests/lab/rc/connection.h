// Two hosts' endpoints, connected, with the event loop of both.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>

#include "common/time.h"
#include "host.h"

namespace pingloom::lab {

// Bytes of the asker's memory and of the answerer's.
struct Transfer {
  rdma::RcOperation operation = rdma::RcOperation::kRead;
  std::size_t bytes = 0;
  std::size_t local = 0;  // offsets
  std::size_t remote = 0;
};

class Connection {
 public:
  static constexpr Nanos kMaxWait = 60 * kSecond;

  // Both live longer.
  Connection(Host& asker, Host& answerer) : asker_(asker), answerer_(answerer) {}

  Host& asker() { return asker_; }
  Host& answerer() { return answerer_; }
  std::string name() const { return fmt::format("{} -> {}", asker_.name(), answerer_.name()); }

  // New endpoints on both sides.
  void connect(const rdma::RcOptions& asking, const rdma::RcOptions& answering);
  void connect(const rdma::RcOptions& both) { connect(both, both); }

  // What a transfer asks for; the local piece lives in this object until the next call.
  rdma::RcRequest request(const Transfer& transfer, std::uint64_t id);
  void post(const rdma::RcRequest& request);
  // As an event loop would; whether it came true in time.
  bool until(const std::function<bool()>& holds, Nanos limit = kMaxWait);
  // Until so many requests are done since connect().
  void untilDone(std::size_t count);

 private:
  Host& asker_;
  Host& answerer_;
  rdma::LocalPiece piece_;
};

}  // namespace pingloom::lab
