// Runs in the lab's guest: RC endpoints on kernel Soft-RoCE and on a soft device do everything to
// each other, in both directions. tests/lab/test_rc.py calls it.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "check.h"
#include "common/log.h"
#include "connection.h"
#include "endings.h"
#include "forged.h"
#include "refusals.h"
#include "transfers.h"

namespace {

using namespace pingloom;
using namespace pingloom::lab;

constexpr std::size_t kSmallMemory = 64 * 1024;

int usage() {
  std::printf(
      "usage: rc_lab RXE_ADDRESS SOFT_ADDRESS NETWORK transfers MTU BYTES...\n"
      "       rc_lab RXE_ADDRESS SOFT_ADDRESS NETWORK refusals | killed\n"
      "       rc_lab RXE_ADDRESS SOFT_ADDRESS NETWORK connects ROUNDS RXE_DEVICE\n"
      "       rc_lab RXE_ADDRESS SOFT_ADDRESS NETWORK forged PEER_ADDRESS PEER_NETWORK\n"
      "NETWORK: the network namespace of SOFT_ADDRESS; empty: that is rxe's, too\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 4) return usage();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  log::init("rc_lab", log::Level::kWarning);
  const Place rxe{words[0], ""};
  const Place soft{words[1], words[2]};
  const std::string& what = words[3];
  if (what == "killed" && words.size() == 4) {
    peerKilled(soft, rxe);
    peerKilled(rxe, soft);
    return 0;
  }
  const bool connects = what == "connects";
  Host rxe_host(rxe, connects ? kSmallMemory : Host::kMemory);
  Host soft_host(soft, connects ? kSmallMemory : Host::kMemory);
  Connection soft_asks(soft_host, rxe_host);
  Connection rxe_asks(rxe_host, soft_host);
  if (what == "transfers" && words.size() > 5) {
    const auto mtu = static_cast<std::uint32_t>(std::stoul(words[4]));
    std::vector<std::size_t> sizes;
    for (std::size_t i = 5; i < words.size(); ++i) sizes.push_back(std::stoul(words[i]));
    transfers(soft_asks, mtu, sizes);
    transfers(rxe_asks, mtu, sizes);
  } else if (what == "refusals" && words.size() == 4) {
    refusals(soft_asks);
    refusals(rxe_asks);
  } else if (what == "forged" && words.size() == 6) {
    RawPeer peer({words[4], words[5]});
    forged(soft_host, peer);
    forged(rxe_host, peer);
  } else if (connects && words.size() == 6) {
    connectsAndDisconnects(soft_asks, std::stoi(words[4]), words[5]);
    connectsAndDisconnects(rxe_asks, std::stoi(words[4]), words[5]);
  } else {
    return usage();
  }
  return 0;
}
