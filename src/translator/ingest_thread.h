// The thread that owns a translator's work: the socket, the shadow, and the session with the
// collector. Any thread may call counters().
#pragma once

#include <memory>
#include <mutex>
#include <thread>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "common/poll_set.h"
#include "net/rx_batch.h"
#include "net/udp_socket.h"
#include "net/zmq_dealer.h"
#include "rdma/device.h"
#include "translator/config.h"
#include "translator/counters.h"
#include "translator/intake.h"
#include "translator/store_session.h"

namespace pingloom::translator {

class IngestThread {
 public:
  // Opens the device and the socket, and starts. REQUIRES: the keys are loaded.
  static Result<std::unique_ptr<IngestThread>> start(const Config& config);
  ~IngestThread();
  IngestThread(const IngestThread&) = delete;
  IngestThread& operator=(const IngestThread&) = delete;

  // Returns what had been counted up to 100 ms ago.
  Counters counters() const;
  const SocketAddress& listens() const { return listens_; }
  const rdma::DeviceInfo& device() const { return device_->info(); }

 private:
  static constexpr int kBatchesAtOnce = 8;                   // before other work is looked at
  static constexpr Nanos kListInterval = 10 * kMillisecond;  // an unfinished block leaves after it
  // One batch of datagrams may bring more entries than a list has room for. Then the thread waits
  // for WRITEs to arrive, so long at most that the store does not become stale.
  static constexpr Nanos kRoomWait = 200 * kMillisecond;
  static constexpr std::uint64_t kFullBlocksAtOnce = 8;

  IngestThread(std::unique_ptr<rdma::Device> device, net::UdpSocket socket);
  Status open(const Config& config);
  void run();
  void receive(Shadow& shadow, Nanos now_mono);
  void takeSegments(std::size_t index, Shadow& shadow, Nanos now_mono, Nanos utc);
  void beat(Nanos now_mono);
  store::WriterStatus statusNow();
  void flushLists(Shadow& shadow, Nanos now_mono);
  void makeRoom(Shadow& shadow, Nanos until);
  void askForMissing();

  std::unique_ptr<rdma::Device> device_;
  net::UdpSocket socket_;
  SocketAddress listens_;
  net::RxBatch batch_;
  net::ZmqContext context_;
  Counters counted_;  // the thread's own
  Intake intake_{counted_};
  std::unique_ptr<StoreSession> session_;
  std::uint64_t incarnation_;
  std::uint64_t beats_ = 0;
  Nanos next_lists_ = kNever;     // when unfinished blocks leave
  std::uint64_t complained_ = 0;  // refused and lost ones that the log has mentioned
  Nanos complain_at_ = 0;
  UniqueFd stop_;  // an eventfd that ends the thread
  mutable std::mutex mutex_;
  Counters published_;  // guarded by the mutex
  std::thread thread_;
};

}  // namespace pingloom::translator
