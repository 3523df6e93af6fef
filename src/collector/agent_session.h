// The session with one agent: it connects, takes the directory, reads round by round, follows
// changes, and starts over after any failure. Nothing here blocks on the agent, so that agents
// never delay each other. It runs on the device's thread.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/board.h"
#include "collector/control_link.h"
#include "collector/page_directory.h"
#include "collector/page_judge.h"
#include "collector/page_reader.h"
#include "common/backoff.h"
#include "common/error.h"
#include "common/time.h"
#include "rdma/device.h"

namespace pingloom::wire {
class PageConnected;
}

namespace pingloom::collector {

struct AgentSpec {
  std::string agent;  // HOST:PORT of its control channel
  Nanos interval = 0;
  std::optional<net::CurveKey> key = std::nullopt;  // its public key, if known
  bool operator==(const AgentSpec&) const = default;
};

class AgentSession {
 public:
  // The first and the longest pause after a failure.
  static constexpr Nanos kFirstPause = 200 * kMillisecond;
  static constexpr Nanos kMaxPause = 5 * kSecond;
  // How long one socket tries to reach an agent. After a failed handshake libzmq does not retry, so
  // a new socket has to.
  static constexpr Nanos kReopen = 5 * kSecond;
  static constexpr Nanos kKeepAlive = 5 * kSecond;  // within PageServer::kPatience

  // `collector` is the collector's name. `source` is the device's address; the control channel
  // connects from there too. `own` are the collector's keys. REQUIRES: device, context and entry
  // outlive the session.
  AgentSession(AgentSpec spec, std::string collector, rdma::Device& device,
               net::ZmqContext& context, const IpAddress& source,
               const std::optional<net::CurvePair>& own, std::shared_ptr<BoardEntry> entry);

  void work(Nanos now);  // never blocks
  // Call it before every wait, because another session's poll() may have received something for
  // this one.
  Nanos nextWake() const { return polled() ? std::min(wake_, reader_->nextWake()) : wake_; }
  void addDescriptors(std::vector<pollfd>& to) const;  // call work() when one of them is readable
  const AgentSpec& spec() const { return spec_; }
  const std::shared_ptr<BoardEntry>& entry() const { return entry_; }

 private:
  void restart(Nanos now, const Error& why);
  void report(const Error& problem);
  void openLink(Nanos now);
  void askToConnect(Nanos now);
  void askForDirectory(Nanos now);
  void takeAnswers(Nanos now);
  Status take(const wire::PageReply& reply, Nanos now);
  void read(Nanos now);
  void roundEnded(Nanos now);
  Status connectReader(const wire::PageConnected& answer, Nanos now);
  void awaitConnection(Nanos now);
  void connectionMade(Nanos now);
  bool polled() const { return connected_ || connecting_; }
  bool checkHead(Nanos now);
  void showDirectory();
  void showRound(Nanos now);
  void setWake(Nanos now);

  const AgentSpec spec_;
  const std::string collector_;
  const bool encrypted_;
  rdma::Device& device_;
  std::shared_ptr<BoardEntry> entry_;
  ControlLink link_;
  std::unique_ptr<PageReader> reader_;
  PageDirectory directory_;
  std::string host_;
  std::uint64_t incarnation_ = 0;
  bool connecting_ = false;     // whether the endpoint is connecting
  bool connected_ = false;      // whether the endpoint is connected
  bool directory_due_ = false;  // whether the head announces changes
  bool directory_new_ = false;  // whether the reader does not follow it yet
  std::uint64_t advised_ = 0;   // the version of the advice that the agent was told
  AgentCounters counters_;
  PageJudge judge_{counters_};
  ReadCounters earlier_;  // sums of earlier readers
  Nanos opened_ = 0;      // when the control channel was opened
  Nanos next_round_ = 0;
  Nanos next_directory_ = 0;
  Nanos restart_at_ = 0;  // 0 if no restart is due
  Backoff backoff_{kFirstPause, kMaxPause};
  std::string said_;  // the last logged problem
  Nanos wake_ = 0;
};

}  // namespace pingloom::collector
