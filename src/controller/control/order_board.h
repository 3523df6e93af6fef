// The place where orders about incidents cross from the HTTP thread to the control thread: they
// wait in a queue, and the control thread answers each once. Bound: kMaxWaiting orders.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/error.h"
#include "common/fd.h"
#include "controller/model/incident.h"

namespace pingloom::controller {

struct AcknowledgeOrder {
  std::uint64_t incident = 0;
  std::optional<Acknowledgement> acknowledgement;  // nullopt takes it back
};
struct AddSilenceOrder {
  Silence silence;
};
struct RemoveSilenceOrder {
  std::uint64_t silence = 0;
};
struct BeginMaintenanceOrder {
  Maintenance maintenance;
};
struct EndMaintenanceOrder {
  std::string host;
};
using VerdictOrder = std::variant<AcknowledgeOrder, AddSilenceOrder, RemoveSilenceOrder,
                                  BeginMaintenanceOrder, EndMaintenanceOrder>;

// The changed object as JSON, "{}" where it is removed, or the reason of the refusal.
using OrderAnswer = Result<std::string>;

class OrderBoard {
 public:
  static constexpr std::size_t kMaxWaiting = 64;
  using Reply = std::function<void(const OrderAnswer&)>;  // any thread, once
  struct Asked {
    VerdictOrder order;
    Reply reply;
  };

  OrderBoard();
  ~OrderBoard() { stop(); }
  OrderBoard(const OrderBoard&) = delete;
  OrderBoard& operator=(const OrderBoard&) = delete;

  // Any thread. False: too many wait, or the controller is shutting down; nothing is called.
  bool ask(VerdictOrder order, Reply reply);
  // Refuses the orders that wait and all later ones.
  void stop();

  // The control thread calls these.
  int descriptor() const { return event_.get(); }  // readable while orders may wait
  std::vector<Asked> takeAsked();

 private:
  UniqueFd event_;  // eventfd
  std::mutex mutex_;
  std::vector<Asked> waiting_;
  bool stopped_ = false;
};

}  // namespace pingloom::controller
