// The session with the agent across reconnects. It sends the registration first, then every page,
// then the metrics of each page that the agent knows, and those that are removed. After a lost
// connection everything is sent again, so that an agent may restart at any time. Not thread-safe;
// the lock of Pages guards it. The caller passes the time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/backoff.h"
#include "pages/client/connection.h"
#include "pages/client/page.h"

namespace pingloom::pages::client {

using PageList = std::vector<std::unique_ptr<Page>>;

// A thread's request for a page from the agent.
struct PageRequest {
  enum class State { kNone, kWanted, kAsked, kGranted, kRefused, kUnavailable };
  State state = State::kNone;
  std::uint32_t number = 0;
  std::uint16_t flags = 0;
  std::uint64_t generation = 0;
  bool known = false;  // granted by the agent of the current connection
  PageMemory memory;
  std::string why;  // kRefused

  bool waiting() const { return state == State::kWanted || state == State::kAsked; }
};

class Session {
 public:
  Session(std::string path, const std::string& application, const std::vector<Label>& labels);

  // Does all that is due: connects, handles answers, sends news. Never blocks.
  void step(Instant now, const PageList& pages);
  // the latest time for step(); call it earlier when fd() is readable
  Instant nextStep(Instant now) const;
  int fd() const { return connection_.fd(); }

  bool registered() const { return state_ == State::kRegistered; }
  std::uint64_t owner() const { return owner_; }
  std::uint64_t refused() const { return refused_; }

  // Tells whether it is worth waiting briefly for a page from the agent.
  bool mayGrant() const { return state_ != State::kDown && !slow_; }
  void request(std::uint32_t number, std::uint16_t flags);
  PageRequest& request() { return request_; }
  // Ends the request in any state; a page that is granted too late is released.
  void endRequest();

  // In a forked child it drops the parent's connection and connects again at `first_connection`.
  void startAnew(Instant first_connection);

  void addTrouble(Outcome trouble) { troubles_.push_back(std::move(trouble)); }
  std::vector<Outcome> takeTroubles() { return std::move(troubles_); }

 private:
  enum class State { kDown, kNotYet, kRegistering, kRegistered };
  struct Expected {
    MessageType type;
    std::uint32_t number;  // number of the page
    Page* page;            // nullptr for the request's page
    MetricNumber metric;   // for kDefine and kRemove
    Instant since;
  };

  void connect(Instant now, const PageList& pages);
  void hangUp(Instant now, const PageList& pages, Outcome trouble);
  void takeAnswers(Instant now, const PageList& pages);
  void tell(Instant now, const PageList& pages);
  bool tellPage(Instant now, Page* page);  // returns false if the socket is full
  bool send(Instant now, const Expected& message, const std::vector<std::uint8_t>& body, int fd);

  // Defined in session_answers.cpp. Returns false if the answer does not match the request.
  bool accept(Instant now, Answer* answer);
  bool acceptGrant(const Expected& asked, Answer* answer);
  void acceptRefusal(Instant now, const Expected& asked, const Answer& answer);

  std::string path_;
  std::vector<std::uint8_t> registration_;
  Connection connection_;
  State state_ = State::kNotYet;
  std::deque<Expected> expected_;        // expected answers, oldest first; at most kMaxUnanswered
  std::vector<std::uint32_t> releases_;  // pages that were granted too late
  PageRequest request_;
  bool slow_ = false;    // whether a request timed out and no answer arrived since
  bool broken_ = false;  // whether to close: a send failed, or registration was refused
  std::uint64_t owner_ = 0;
  std::uint64_t refused_ = 0;
  std::vector<Outcome> troubles_;
  Instant registered_at_{};
  Instant retry_at_{};
  Instant send_again_at_{};
  Instant ask_again_at_{};  // when to ask again for refused pages
  Backoff backoff_;         // in milliseconds
  std::minstd_rand random_;
};

}  // namespace pingloom::pages::client
