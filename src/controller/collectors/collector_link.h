// Asks one collector over HTTP, on a thread of its own, so that a collector that is slow or silent
// delays nobody else. While heartbeats arrive, it polls the collector's applications and, when
// there are new ones, its events; it also passes on questions about one host. Bounds: kMaxWaiting
// questions wait, an answer has kMaxAnswer bytes, and the collector has kTimeout for each.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "common/error.h"
#include "common/time.h"
#include "controller/collectors/collector_view.h"
#include "http/client.h"
#include "http/message.h"

namespace pingloom::controller {

// The controller's credentials for collectors.
struct CollectorAccess {
  std::filesystem::path token;  // the file with the token, read for each question; "": none
  std::filesystem::path ca;     // for https: the certificates to trust; "": the system's
};

class CollectorLink {
 public:
  static constexpr Nanos kPollInterval = 5 * kSecond;
  static constexpr Nanos kTimeout = 3 * kSecond;
  // After so long without an answer it is not known any more what the collector reads.
  static constexpr Nanos kStale = 20 * kSecond;
  static constexpr std::size_t kMaxWaiting = 8;
  static constexpr std::size_t kMaxAnswer = 4UL << 20;

  // Polls until `poll_until_mono`. `anomalies` is told what is unusual, and outlives the link.
  CollectorLink(std::string url, CollectorAccess access, PageAnomalies& anomalies,
                Nanos poll_until_mono, Nanos poll_interval = kPollInterval);
  // Cancels the question in flight; those that wait are answered 503.
  ~CollectorLink();
  // Cancels the question in flight, and ends the thread without waiting for it. Any thread.
  void cancel();
  CollectorLink(const CollectorLink&) = delete;
  CollectorLink& operator=(const CollectorLink&) = delete;

  // Any thread may call these. A heartbeat has arrived:
  void pollUntil(Nanos mono);
  // Asks for the pages of a host. False: too many questions wait, and nothing is called.
  bool ask(std::string host, http::Respond respond);
  std::shared_ptr<const CollectorView> view() const;  // never nullptr

 private:
  struct Question {
    std::string host;
    http::Respond respond;
  };
  void run();
  void poll();
  void pollOrFail();
  http::Response answerTo(const Question& question) const;
  http::Response pagesOf(const std::string& host) const;
  Result<http::ClientResponse> get(const std::string& path) const;
  // As get(), but an answer with another status than 200 is an error.
  Result<std::string> body(const std::string& path) const;

  const std::string url_;
  const CollectorAccess access_;
  PageAnomalies& anomalies_;
  const Nanos poll_interval_;
  std::atomic<bool> cancelled_{false};
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::deque<Question> waiting_;
  Nanos poll_until_mono_;
  std::shared_ptr<const CollectorView> view_ = std::make_shared<const CollectorView>();
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace pingloom::controller
