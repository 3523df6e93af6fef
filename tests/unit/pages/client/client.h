// Short ways to make metrics in tests.
#pragma once

#include <gtest/gtest.h>
#include <pingloom/pages.h>

#include <string>

#include "scripted_agent.h"

namespace pingloom::pages::test {

class Client {
 public:
  explicit Client(const std::string& socket, void (*on_error)(void*, int, const char*) = nullptr,
                  void* context = nullptr) {
    pingloom_pages_options options{};
    options.application = "tested";
    options.socket = socket.c_str();
    options.on_error = on_error;
    options.context = context;
    EXPECT_EQ(pingloom_pages_open(&options, &pages_), PINGLOOM_OK);
  }
  ~Client() { pingloom_pages_close(pages_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  operator pingloom_pages*() const { return pages_; }

  pingloom_counter counter(const std::string& name, const pingloom_group* group = nullptr,
                           int expected = PINGLOOM_OK) {
    pingloom_metric metric{};
    metric.name = name.c_str();
    metric.group = group;
    pingloom_counter made;
    EXPECT_EQ(pingloom_counter_make(pages_, &metric, &made), expected) << pingloom_error_text();
    return made;
  }
  // Removes a metric that has this label, or none.
  int remove(const std::string& name, pingloom_label label = {nullptr, nullptr}) {
    pingloom_metric metric{};
    metric.name = name.c_str();
    metric.labels = &label;
    metric.label_count = label.name == nullptr ? 0 : 1;
    return pingloom_metric_remove(pages_, &metric);
  }
  pingloom_pages_status status() const {
    pingloom_pages_status now;
    pingloom_pages_get_status(pages_, &now);
    return now;
  }
  // An agent knows all of it.
  bool settled() const {
    return eventually([this] {
      const auto now = status();
      return now.connected != 0 && now.pages == now.known_pages && now.metrics == now.known_metrics;
    });
  }

 private:
  pingloom_pages* pages_ = nullptr;
};

}  // namespace pingloom::pages::test
