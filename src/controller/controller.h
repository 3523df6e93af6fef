// The controller without HTTP: wires everything that the control thread owns, and runs its loop.
// The dashboard and Redis read board() from their own threads.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/error.h"
#include "common/fd.h"
#include "common/service_manager.h"
#include "controller/alerts/alerts.h"
#include "controller/cluster/cluster.h"
#include "controller/cluster/key_share.h"
#include "controller/config.h"
#include "controller/control/access.h"
#include "controller/control/authorized_source.h"
#include "controller/control/batch_intake.h"
#include "controller/control/batch_marks.h"
#include "controller/control/burst_board.h"
#include "controller/control/control_server.h"
#include "controller/control/cover_pairs.h"
#include "controller/control/grid.h"
#include "controller/control/homes.h"
#include "controller/control/join_desk.h"
#include "controller/control/lapse_watch.h"
#include "controller/control/membership.h"
#include "controller/control/order_board.h"
#include "controller/control/pinglist_source.h"
#include "controller/control/presence_log.h"
#include "controller/control/registry.h"
#include "controller/control/relay_feed.h"
#include "controller/control/verdicts.h"
#include "controller/history/ledger_writer.h"
#include "controller/model/board.h"
#include "controller/redis/cluster_writer.h"
#include "controller/redis/embedded.h"
#include "controller/redis/writer.h"
#include "controller/relay/other_controllers.h"
#include "controller/relay/relay_intake.h"
#include "net/zmq_router.h"

namespace pingloom::controller {

class Controller {
 public:
  // Binds, opens and starts everything, and restores the latest rows. An invalid pinglist is not a
  // failure: agents keep their plan until there is a valid one.
  static Result<std::unique_ptr<Controller>> start(const Config& config);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  Board& board() { return board_; }
  BurstBoard& bursts() { return bursts_; }
  OrderBoard& orders() { return orders_; }
  Alerts* alerts() { return alerts_.get(); }  // nullptr without targets
  SocketAddress controlAddress() const { return socket_->address(); }

  // Runs the control thread's loop until it is asked to stop or to reload. The controller is ready
  // once a pinglist is in force and Redis accepts results.
  ServiceManager::Asked run(ServiceManager& manager);
  // Applies a configuration between two runs; settings that cannot be reloaded stay unchanged.
  void reload(const Config& config);
  static constexpr std::array<std::string_view, 4> kReloadable = {"pinglist", "limits", "log_level",
                                                                  "log"};

 private:
  explicit Controller(const Config& config)
      : config_(config),
        grid_(registry_, board_),
        verdicts_(grid_, registry_, board_, orders_, bursts_),
        paths_(registry_, board_) {}
  Status open();
  Status joinCluster();
  Status followOthers();
  void startWriter();
  void clusterChanged();
  void noteNewMembers(Instant now);
  void share(const std::vector<IpAddress>& addresses);
  void shareAll();
  Status lockStateDir();
  Status listen();
  void loadAuthorized();
  void takeJoins();
  void loadPinglist(bool at_start);
  void enforce(std::shared_ptr<const pinglist::Pinglist> loaded, Instant now);
  std::shared_ptr<const pinglist::Pinglist> expanded(Instant now);
  void membersChanged(Instant now);
  void coverLinks(Instant now);
  std::vector<LedgerPlace> places() const;
  void restoreAll(Ledger& ledger);
  void restore(const LatestReport& latest, Instant now);
  void planChanged(Instant now);
  void use(const std::shared_ptr<const pinglist::Pinglist>& next, Instant now);
  void turn();
  Nanos longestWait() const;
  ServiceManager::Asked wait(ServiceManager& manager);
  std::string_view doing() const;
  void keepEvents(Instant now);
  void publish(Instant now);

  Config config_;
  UniqueFd state_lock_;
  Board board_;
  BurstBoard bursts_;
  OrderBoard orders_;
  Registry registry_;
  EventBatch events_;
  LatencyHistograms latency_;
  Grid grid_;
  Verdicts verdicts_;
  PathIntake paths_;
  std::optional<PresenceLog> presence_;
  std::unique_ptr<PinglistSource> pinglist_;
  std::shared_ptr<const pinglist::Pinglist> written_;  // as the file has it; nullptr without one
  std::optional<Membership> membership_;
  std::optional<CoverPairsFile> cover_pairs_;
  std::vector<std::string> member_warnings_;
  std::vector<std::string> member_notes_;
  std::unique_ptr<Cluster> cluster_;     // nullptr if this controller works alone
  std::unique_ptr<KeyShare> key_share_;  // likewise, or if it has no keys
  std::optional<Homes> homes_;           // likewise
  ForeignEndpoints foreign_;
  std::unordered_set<IpAddress, IpAddressHash> shared_;  // what the others know from here
  std::shared_ptr<const ClusterStatus> seen_cluster_ = std::make_shared<const ClusterStatus>();
  std::int64_t shared_session_ = 0;  // in which they were told
  std::unique_ptr<LedgerWriter> ledger_;
  std::unique_ptr<BatchMarks> marks_;
  std::unique_ptr<BatchIntake> intake_;
  std::shared_ptr<net::PeerGate> gate_;  // these four are nullptr without keys
  std::unique_ptr<AuthorizedSource> authorized_;
  std::unique_ptr<Access> access_;
  std::unique_ptr<JoinDesk> desk_;
  std::unique_ptr<net::ZmqRouter> socket_;
  std::optional<RelayFeed> feed_;  // without a value if this controller works alone
  std::unique_ptr<ControlServer> server_;
  std::optional<RelayIntake> relay_intake_;   // likewise
  std::unique_ptr<OtherControllers> others_;  // likewise
  std::unique_ptr<EmbeddedRedis> redis_;
  // One of the two writes to Redis.
  std::unique_ptr<RedisWriter> writer_;
  std::unique_ptr<RedisClusterWriter> cluster_writer_;
  std::unique_ptr<Alerts> alerts_;
  std::uint64_t generation_ = 0;
  Nanos started_utc_ = 0;
  Nanos events_due_mono_ = 0;
  Nanos covers_due_mono_ = 0;  // when the other controllers are told the pairs for links again
  Nanos publish_due_mono_ = 0;
  Nanos hosts_due_mono_ = 0;
  bool hosts_changed_ = false;
  Nanos drained_mono_ = 0;
  LapseWatch lapse_watch_;
  bool steady_ = true;
  ControlServer::Waiting waiting_ = ControlServer::Waiting::kNothing;
};

}  // namespace pingloom::controller
