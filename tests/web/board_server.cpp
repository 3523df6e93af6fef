// Serves the dashboard from a board of synthetic rows. It prints its URL, then reads one command a
// line from standard input and answers "done": `pair PROBE SOURCE DESTINATION STATE`, `all`,
// `troubles`, `slow HOST`, `judge HOST`, `reject`, `plan HOSTS [NAME]`, and `host NUMBER` with the
// host's name and its labels and values, separated by tabs. It ends with its input.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include "controller/http/dashboard.h"
#include "synthetic_board.h"

namespace {

using pingloom::PairState;

std::optional<PairState> stateNamed(const std::string& text) {
  for (std::size_t i = 0; i < pingloom::kPairStateNames.size(); ++i) {
    if (pingloom::kPairStateNames[i] == text) return static_cast<PairState>(i);
  }
  return std::nullopt;
}

bool describe(pingloom::test::SyntheticBoard& synthetic, std::istringstream& words) {
  std::uint32_t host = 0;
  std::string name;
  std::string label;
  std::string value;
  std::map<std::string, std::string> labels;
  words >> host >> std::ws;
  if (!std::getline(words, name, '\t')) return false;
  while (std::getline(words, label, '\t') && std::getline(words, value, '\t'))
    labels[label] = value;
  synthetic.describeHost(host, name, labels);
  return true;
}

bool obey(pingloom::test::SyntheticBoard& synthetic, const std::string& line) {
  std::istringstream words(line);
  std::string command;
  words >> command;
  if (command == "all") {
    synthetic.publishAll();
  } else if (command == "troubles") {
    synthetic.publishTroubles();
  } else if (command == "slow") {
    std::uint32_t host = 0;
    words >> host;
    synthetic.slowDown(host);
  } else if (command == "judge") {
    std::uint32_t host = 0;
    words >> host;
    synthetic.judge(host);
  } else if (command == "reject") {
    synthetic.rejectPinglist("/etc/pingloom/pinglist.yaml:12:15: unknown protocol 'udb' <b>");
  } else if (command == "plan") {
    std::uint32_t hosts = 0;
    if (!(words >> hosts)) return false;
    std::string name;
    std::getline(words >> std::ws, name);
    synthetic.usePlan(hosts, name.empty() ? "gpu-001" : name);
    return true;
  } else if (command == "host") {
    return describe(synthetic, words);
  } else if (command == "pair") {
    std::uint32_t probe = 0;
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::string state_text;
    words >> probe >> source >> destination >> state_text;
    const auto state = stateNamed(state_text);
    if (!state) return false;
    synthetic.publishPair(probe, source, destination, *state);
  } else {
    return false;
  }
  return static_cast<bool>(words);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: board_server ADDRESS:PORT WEB_ROOT HOSTS\n";
    return 2;
  }
  pingloom::controller::DashboardOptions options;
  const auto listen = pingloom::SocketAddress::parse(argv[1]);
  if (!listen) {
    std::cerr << listen.error().text() << "\n";
    return 2;
  }
  options.listen = *listen;
  options.web_root = argv[2];
  pingloom::test::SyntheticBoard synthetic(static_cast<std::uint32_t>(std::atoi(argv[3])));
  synthetic.publishAll();
  pingloom::controller::BurstBoard bursts;
  pingloom::controller::OrderBoard orders;
  bursts.stop();  // there are no agents to run bursts
  const auto dashboard =
      pingloom::controller::Dashboard::start(options, synthetic.board(), bursts, orders);
  if (!dashboard) {
    std::cerr << dashboard.error().text() << "\n";
    return 1;
  }
  std::cout << "http://" << (*dashboard)->address().text() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << (obey(synthetic, line) ? "done" : "not understood") << std::endl;
  }
  return 0;
}
