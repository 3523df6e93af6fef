// A controller's HTTP side for tests of commands: canned answers, and the requests as they came.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/server.h"

namespace pingloom::cli {

class ControllerStub : public testing::Test {
 protected:
  struct Seen {
    std::string method;
    std::string path;
    std::map<std::string, std::string> query;
    std::string body;
  };

  ControllerStub() {
    http::ServerOptions options;
    options.listen = *SocketAddress::parse("127.0.0.1:0");
    server_ = *http::Server::start(
        options, [this](const http::Request& request) -> http::Answer { return answer(request); });
    url_ = "http://" + server_->address().text();
  }

  // Answers a request such as "GET /api/v1/incidents"; any other gets 404.
  void serve(const std::string& request, const std::string& body, unsigned status = 200) {
    const std::lock_guard lock(mutex_);
    answers_[request].body = body;
    answers_[request].status = status;
  }
  std::vector<Seen> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

  std::string url_;

 private:
  http::Response answer(const http::Request& request) {
    const std::lock_guard lock(mutex_);
    seen_.push_back({request.method, request.path, request.query, request.body});
    const auto found = answers_.find(request.method + " " + request.path);
    return found == answers_.end() ? http::errorResponse(404, "nothing here") : found->second;
  }

  std::mutex mutex_;
  std::map<std::string, http::Response> answers_;
  std::vector<Seen> seen_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace pingloom::cli
