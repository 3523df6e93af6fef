// Reads a store at another host by RDMA READ, without its processor. Calls wait for what they read.
// One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "rdma/device.h"
#include "store/store_client.h"
#include "store/table_memory.h"

namespace pingloom::store {

class RemoteReads final : public RemoteStore {
 public:
  // Connects to the store of that name. REQUIRES: the device outlives this.
  static Result<std::unique_ptr<RemoteReads>> open(std::shared_ptr<StoreClient> client,
                                                   rdma::Device& device, const std::string& name);

  ~RemoteReads() override;  // tells the collector, if it can be reached

  const Head& head() const { return connected_.head; }  // as it was when this was opened
  void read(std::uint64_t base, std::span<const ReadPiece> pieces) const override;
  Status reachable() const override;

 private:
  static constexpr std::size_t kBufferBytes = 32 * 1024;  // of what one call reads at a time

  RemoteReads(std::shared_ptr<StoreClient> client, ConnectRequest request)
      : client_(std::move(client)), request_(std::move(request)), buffer_(kBufferBytes) {}
  Status connect(rdma::Device& device);
  Status readNow(std::uint64_t base, std::span<const ReadPiece> pieces) const;
  Status post(std::uint64_t offset, std::span<std::uint8_t> into) const;
  Status await(std::size_t reads) const;

  const std::shared_ptr<StoreClient> client_;
  ConnectRequest request_;
  // What read() uses, which changes nothing that a caller sees.
  mutable std::vector<std::uint8_t> buffer_;
  std::unique_ptr<rdma::Domain> domain_;
  std::unique_ptr<rdma::MemoryRegion> region_;
  std::unique_ptr<rdma::RcEndpoint> endpoint_;
  Connected connected_;
  mutable rdma::RcEvents events_;
  mutable Nanos said_ = 0;  // the last sign of life
  mutable std::optional<Error> failure_;
};

}  // namespace pingloom::store
