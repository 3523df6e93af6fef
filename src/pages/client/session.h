// What this process has told its agent and what the agent answered, over connections that come and
// go: registration first, then every page, then the metrics of each page it knows. After a lost
// connection everything is told again, so an agent may restart at any time.
//
// Not thread-safe: used under the lock of Pages. Time is passed in.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "pages/client/connection.h"
#include "pages/client/page.h"

namespace pingloom::pages::client {

using Instant = std::chrono::steady_clock::time_point;
using PageList = std::vector<std::unique_ptr<Page>>;

// A page that a thread wants from the agent and waits for.
struct PageRequest {
  enum class State { kNone, kWanted, kAsked, kGranted, kRefused, kUnavailable };
  State state = State::kNone;
  std::uint32_t number = 0;
  std::uint16_t flags = 0;
  std::uint64_t generation = 0;
  bool known = false;  // kGranted: to the agent of the connection that there is now
  PageMemory memory;
  std::string why;  // kRefused

  bool waiting() const { return state == State::kWanted || state == State::kAsked; }
};

class Session {
 public:
  Session(std::string path, const std::string& application, const std::vector<Label>& labels);

  // All that is due: connects, takes answers, tells what is new. Never blocks.
  void step(Instant now, const PageList& pages);
  Instant nextStep(Instant now) const;  // at the latest; earlier when fd() is readable
  int fd() const { return connection_.fd(); }

  bool registered() const { return state_ == State::kRegistered; }
  std::uint64_t owner() const { return owner_; }
  std::uint64_t refused() const { return refused_; }

  // It is worth to wait a little for a page of the agent.
  bool mayGrant() const { return state_ != State::kDown && !slow_; }
  void request(std::uint32_t number, std::uint16_t flags);
  PageRequest& request() { return request_; }
  // Ends it in whatever state it is; a page that is granted too late goes back.
  void endRequest();

  // In a forked child: the connection is the parent's. The next one not before `first_connection`.
  void startAnew(Instant first_connection);

  std::vector<Outcome> takeTroubles() { return std::move(troubles_); }

 private:
  enum class State { kDown, kNotYet, kRegistering, kRegistered };
  struct Expected {
    MessageType type;
    std::uint32_t number;  // of the page
    Page* page;            // null: the request's
    std::size_t metric;    // of the page; kDefine
    Instant since;
  };

  void connect(Instant now, const PageList& pages);
  void hangUp(Instant now, const PageList& pages, Outcome trouble);
  void takeAnswers(Instant now, const PageList& pages);
  void tell(Instant now, const PageList& pages);
  bool tellPage(Instant now, Page* page);  // false: not now
  bool send(Instant now, const Expected& message, const std::vector<std::uint8_t>& body, int fd);

  // session_answers.cpp. False: it is no answer to what was asked.
  bool accept(Instant now, Answer* answer);
  bool acceptGrant(const Expected& asked, Answer* answer);
  void acceptRefusal(Instant now, const Expected& asked, const Answer& answer);

  std::string path_;
  std::vector<std::uint8_t> registration_;
  Connection connection_;
  State state_ = State::kNotYet;
  std::deque<Expected> expected_;        // answers, oldest first; at most kMaxUnanswered
  std::vector<std::uint32_t> releases_;  // pages that came too late
  PageRequest request_;
  bool slow_ = false;    // it did not answer a request in time, and nothing since
  bool broken_ = false;  // hang up: a send failed, or this process is not wanted
  std::uint64_t owner_ = 0;
  std::uint64_t refused_ = 0;
  std::vector<Outcome> troubles_;
  Instant registered_at_{};
  Instant retry_at_{};
  Instant send_again_at_{};
  Instant ask_again_at_{};  // for pages that were refused
  std::chrono::milliseconds delay_;
  std::minstd_rand random_;
};

}  // namespace pingloom::pages::client
