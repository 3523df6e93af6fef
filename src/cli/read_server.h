// `pingloom read --serve`: offers a region of known contents for reading until it is stopped.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "rdma/open_device.h"
#include "wire/read_exchange.h"

namespace pingloom::cli {

struct ServeOptions {
  SocketAddress listen;  // for TCP; the device is the one that has this address
  rdma::DeviceOptions device;
  std::string region = "test";
  std::uint32_t bytes = 1U << 20;
};

// Every client that reaches the TCP port may read the region, and nothing else. One thread. Bounds:
// kReaders readers with an endpoint each, and kWaiting connections without a request yet. A
// connection without a request is closed after kPatience; closing it destroys its endpoint.
//
// A reader's endpoint has to be at the address that it connects from. Until the reader's TCP has
// acknowledged the answer, a soft device sends it at most three times the bytes that it received.
class ReadServer {
 public:
  static constexpr std::size_t kReaders = 64;
  static constexpr std::size_t kWaiting = 64;
  static constexpr Nanos kPatience = 2 * kSecond;

  static Result<std::unique_ptr<ReadServer>> create(const ServeOptions& options);
  void run(int stop);  // runs until `stop` is readable

  std::uint64_t served() const { return served_; }
  std::uint64_t refused() const { return refused_; }
  const rdma::DeviceInfo& device() const { return device_->info(); }
  std::uint16_t port() const { return port_; }

 private:
  struct Reader {
    UniqueFd socket;
    SocketAddress from;
    Nanos since = 0;
    std::array<std::uint8_t, wire::kReadExchangeBytes> bytes{};
    std::size_t have = 0;
    std::unique_ptr<rdma::RcEndpoint> endpoint;  // set once the request has been answered
    bool proved = false;                         // its TCP has acknowledged the answer
  };

  explicit ReadServer(const ServeOptions& options) : options_(options) {}
  Status listen();
  void accept();
  std::size_t serving() const;
  Result<std::unique_ptr<rdma::RcEndpoint>> connect(const Reader& reader,
                                                    const rdma::RcAddress& peer);
  // These return false when the connection has to be closed.
  bool hear(Reader& reader);
  bool answer(Reader& reader);
  bool poll(Reader& reader);
  void drop(Reader& reader);
  int waitMillis() const;

  ServeOptions options_;
  std::unique_ptr<rdma::Device> device_;
  std::unique_ptr<rdma::Domain> domain_;
  std::vector<std::uint8_t> memory_;
  std::unique_ptr<rdma::MemoryRegion> region_;
  std::uint64_t seed_ = 0;
  UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::uint64_t served_ = 0;   // readers that got an endpoint
  std::uint64_t refused_ = 0;  // readers that got none
};

}  // namespace pingloom::cli
