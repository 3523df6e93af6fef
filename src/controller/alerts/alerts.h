// Tells people about incidents: follows the board's verdicts on a thread of its own, and hands what
// each target has to know to the target's lanes (lane.h). Bounds: AlertTarget::kMax lanes.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/error.h"
#include "controller/alerts/lane.h"
#include "controller/alerts/notifier.h"
#include "controller/alerts/target.h"
#include "controller/model/board.h"

namespace pingloom::controller {

enum class AlertTestRefusal : std::uint8_t { kNone, kUnknown, kBusy, kEnding };

// What came of a test, for each place of the target.
struct AlertTestAnswer {
  struct Place {
    std::string name;
    DeliveryResult result;
  };
  AlertTestRefusal refusal = AlertTestRefusal::kNone;
  std::vector<Place> places;
};

class Alerts {
 public:
  using TestReply = std::function<void(AlertTestAnswer)>;
  // Whether notifications are sent. What is not sent counts as told, because another controller
  // tells it. Called on the alerts' thread.
  using Sends = std::function<bool()>;

  // Takes over what waits in `folder`, which has a folder for each target. The board must outlive
  // the alerts.
  static Result<std::unique_ptr<Alerts>> start(std::vector<AlertTarget> targets,
                                               const std::filesystem::path& folder, Board& board,
                                               Sends sends = nullptr);  // nullptr: always
  ~Alerts();  // cancels what is in flight and joins all threads
  Alerts(const Alerts&) = delete;
  Alerts& operator=(const Alerts&) = delete;

  // Sends one test notification through a target, after the attempt in flight. Any thread; `reply`
  // is called once, on any thread, and after at most two times kDeliveryTimeout.
  void test(const std::string& target, TestReply reply);
  // Gives up the tests that are under way and refuses all later ones.
  void stopTests();

 private:
  struct Target;  // a target with its lanes
  struct Test;    // a test that waits for its lanes

  Alerts(std::vector<AlertTarget> targets, Board& board, Sends sends);
  Status open(const std::filesystem::path& folder);
  Status openTarget(const AlertTarget& target, const std::filesystem::path& folder);
  void begin();
  void wake();
  void run();
  bool waitFor(Nanos longest, bool for_changes);  // returns false when the alerts stop
  void publish();

  const std::vector<AlertTarget> configured_;
  Board& board_;
  const Sends sends_;
  std::shared_ptr<Feed> feed_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool changed_ = false;
  bool stop_ = false;
  bool tests_stopped_ = false;

  AlertStatuses published_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::thread thread_;
};

}  // namespace pingloom::controller
