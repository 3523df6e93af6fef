// Takes requests to join to the files of keys and back. Writing a file may take long, so a thread
// of its own decides and writes (keys/join_rules.h); requests that come within kPause share one
// write. The control thread calls; bound: kMaxWaiting requests.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/fd.h"
#include "common/time.h"
#include "keys/join_rules.h"

namespace pingloom::controller {

class JoinDesk {
 public:
  static constexpr std::size_t kMaxWaiting = 1024;
  static constexpr Nanos kPause = 100 * kMillisecond;  // between two writes

  struct Request {
    std::string route;
    net::CurveKey token;
    keys::JoinRequest wants;
  };
  struct Answer {
    std::string route;
    std::string from;  // the address that asked, or ""
    keys::JoinDecision decision;
  };
  // The answers to some requests, and the files as they are since.
  struct Done {
    std::vector<Answer> answers;
    std::shared_ptr<const keys::AuthorizedKeys> authorized;  // nullptr: they could not be changed
    std::shared_ptr<const keys::JoinBook> book;
  };

  // `authorized` is the list of authorised keys.
  explicit JoinDesk(std::filesystem::path authorized);
  ~JoinDesk();
  JoinDesk(const JoinDesk&) = delete;
  JoinDesk& operator=(const JoinDesk&) = delete;

  // Returns false if too many wait.
  bool take(Request request);
  int descriptor() const { return event_.get(); }  // readable when takeDone() has something
  std::vector<Done> takeDone();

 private:
  void run();
  Done decide(std::vector<Request> requests) const;

  const std::filesystem::path authorized_;
  const UniqueFd event_;
  std::mutex mutex_;  // guards everything below but the thread
  std::condition_variable wake_;
  std::vector<Request> waiting_;
  std::vector<Done> done_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace pingloom::controller
