#include <iostream>
#include <pingloom/pages.hpp>

int main() {
  pingloom::PagesOptions options;
  options.application = "consumer";
  options.socket = "/nonexistent";
  pingloom::Pages pages(options);
  const auto group = pages.group();
  pingloom::MetricOptions asked{"orders_total", "Orders.", {{"shop", "north"}}, group};
  const auto orders = pages.counter(asked);
  {
    const pingloom::Group::Update update(group);
    orders.add(1500);
  }
  pages.gauge({"no name"}).set(1);
  if (pages.lastError().empty() || pages.status().metrics != 1) return 1;
  std::cout << "1500\n";
}
