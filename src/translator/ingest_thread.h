// A thread that owns a share of a translator's work: its sockets, its shadow, and its session with
// the collector. Any thread may call counters(), losses() and setReporters().
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "common/poll_set.h"
#include "net/zmq_dealer.h"
#include "rdma/device.h"
#include "translator/config.h"
#include "translator/counters.h"
#include "translator/intake.h"
#include "translator/published_sources.h"
#include "translator/receiver.h"
#include "translator/store_session.h"

namespace pingloom::translator {

class IngestThread {
 public:
  struct Share {
    std::string store;       // its name
    bool published = false;  // whether it takes the packets of the published DTA
  };

  // REQUIRES: the keys are loaded.
  static Result<std::unique_ptr<IngestThread>> start(const Config& config, Share share,
                                                     std::shared_ptr<rdma::Device> device,
                                                     Receiver reports);
  ~IngestThread() { stop(); }
  IngestThread(const IngestThread&) = delete;
  IngestThread& operator=(const IngestThread&) = delete;

  // Ends the thread; the device and the sockets stay open.
  void stop();
  // Return what had been counted up to 100 ms ago.
  Counters counters() const;
  ReporterLosses losses() const;
  // Applies within 100 ms. REQUIRES: the reporters' keys are loaded.
  void setReporters(const ReporterSpecs& specs);
  const SocketAddress& listens() const { return reports_.address(); }
  const rdma::DeviceInfo& device() const { return device_->info(); }

 private:
  static constexpr Nanos kListInterval = 10 * kMillisecond;  // an unfinished block leaves after it
  // One batch of datagrams may bring more entries than a list has room for. Then the thread waits
  // for WRITEs to arrive, so long at most that the store does not become stale.
  static constexpr Nanos kRoomWait = 200 * kMillisecond;
  static constexpr std::uint64_t kFullBlocksAtOnce = 8;
  // The most counted keys of tables of counters leave every second.
  static constexpr std::uint64_t kBeatsForKeys = kSecond / store::kStatusInterval;

  IngestThread(std::shared_ptr<rdma::Device> device, Receiver reports);
  Status open(const Config& config, Share share);
  void run();
  void receive(Shadow& shadow, Nanos now_mono);
  void receivePublished(Shadow& shadow, Nanos now_mono);
  void reply(const SocketAddress& to, const wire::ReportReply& reply) const;
  void beat(Nanos now_mono);
  store::WriterStatus statusNow();
  void learn(const store::Head& head);
  void flushLists(Shadow& shadow, Nanos now_mono);
  void makeRoom(Shadow& shadow, Nanos until);
  void exchange();
  void complain(Nanos now_mono);

  std::shared_ptr<rdma::Device> device_;
  Receiver reports_;
  std::optional<Receiver> published_packets_;          // nullopt if not configured
  std::optional<PublishedSources> published_sources_;  // there if and only if the receiver is
  net::ZmqContext context_;
  Counters counted_;  // the thread's own
  Intake intake_;
  std::unique_ptr<StoreSession> session_;
  std::uint64_t incarnation_;
  std::uint64_t beats_ = 0;
  Nanos next_lists_ = kNever;  // when unfinished blocks leave
  Nanos complain_at_ = 0;      // no sooner
  UniqueFd stop_;              // an eventfd that ends the thread
  mutable std::mutex mutex_;
  Counters published_;  // these three are guarded by the mutex
  ReporterLosses published_losses_;
  std::unique_ptr<ReporterRules> next_rules_;  // nullptr unless they have changed
  std::thread thread_;
};

}  // namespace pingloom::translator
