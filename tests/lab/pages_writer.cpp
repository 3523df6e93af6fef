// Writes metric pages whose values prove themselves: pages_writer IDENTITY PAGES SECONDS. Every
// page is a group of a count and eight values that follow from identity, page, value and count, so
// that whoever reads them can tell whether they were written together, and by whom; all are
// written, then comes a pause of so many milliseconds.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <pingloom/pages.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kValues = 8;
constexpr std::uint64_t kModulus = std::uint64_t{1} << 40;  // exact as a double

struct WrittenPage {
  pingloom_group group{};
  pingloom_counter count{};
  pingloom_gauge values[kValues] = {};
};

std::uint64_t expected(std::uint64_t identity, std::uint64_t page, std::uint64_t value,
                       std::uint64_t count) {
  return (identity * 1'000'003 + page * 10'007 + value * 101 + count * 7'919) % kModulus;
}

WrittenPage makePage(pingloom_pages* pages, const std::string& identity, int number) {
  WrittenPage page;
  pingloom_group_make(pages, &page.group);
  const std::string page_text = std::to_string(number);
  pingloom_label labels[3] = {
      {"identity", identity.c_str()}, {"page", page_text.c_str()}, {"value", "0"}};
  pingloom_metric metric{};
  metric.labels = labels;
  metric.group = &page.group;
  metric.label_count = 2;
  metric.name = "lab_writes_total";
  metric.help = "Groups written.";
  pingloom_counter_make(pages, &metric, &page.count);
  metric.label_count = 3;
  metric.name = "lab_value";
  metric.help = "A value of a group.";
  for (int i = 0; i < kValues; ++i) {
    const std::string value = std::to_string(i);
    labels[2].value = value.c_str();
    pingloom_gauge_make(pages, &metric, &page.values[i]);
  }
  return page;
}

using Clock = std::chrono::steady_clock;
Clock::time_point after(const char* seconds) {
  return Clock::now() + std::chrono::milliseconds(static_cast<long>(std::atof(seconds) * 1000));
}

int write(const std::string& identity, int count, Clock::time_point end, const char* pause) {
  const std::uint64_t number = std::strtoull(identity.c_str(), nullptr, 10);
  const std::string application = "writer-" + identity;
  pingloom_pages_options options{};
  options.application = application.c_str();
  pingloom_pages* pages = nullptr;
  if (pingloom_pages_open(&options, &pages) != PINGLOOM_OK) {
    std::cerr << pingloom_error_text() << "\n";
    return 1;
  }
  std::vector<WrittenPage> written;
  for (int i = 0; i < count; ++i) written.push_back(makePage(pages, identity, i));
  for (std::uint64_t round = 1; Clock::now() < end; ++round) {
    for (std::size_t page = 0; page < written.size(); ++page) {
      WrittenPage& one = written[page];
      pingloom_group_begin(one.group);
      pingloom_counter_add(one.count, 1);
      for (std::uint64_t i = 0; i < kValues; ++i) {
        pingloom_gauge_set(one.values[i], static_cast<double>(expected(number, page, i, round)));
      }
      pingloom_group_commit(one.group);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(pause)));
  }
  pingloom_pages_close(pages);
  return 0;
}

int churn(char** arguments) {
  const std::uint64_t first = std::strtoull(arguments[0], nullptr, 10);
  const std::chrono::duration<double> apart(1 / std::atof(arguments[1]));
  const auto begin = Clock::now();
  const auto end = after(arguments[2]);
  int started = 0, failed = 0;
  for (; Clock::now() < end; ++started) {
    std::this_thread::sleep_until(begin + started * apart);
    if (fork() == 0) {
      _exit(write(std::to_string(first + static_cast<unsigned>(started)), 1, after(arguments[3]),
                  arguments[4]));
    }
  }
  for (int i = 0, status = 0; i < started; ++i) failed += wait(&status) < 0 || status != 0;
  std::cout << started << " came, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5) return write(argv[1], std::atoi(argv[2]), after(argv[3]), argv[4]);
  if (argc == 7 && std::string(argv[1]) == "churn") return churn(argv + 2);
  std::cerr << "usage: pages_writer IDENTITY PAGES SECONDS PAUSE\n"
               "       pages_writer churn FIRST RATE SECONDS LIFETIME PAUSE\n";
  return 2;
}
