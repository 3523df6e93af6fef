// The parser of an agent's answers against damaged ones.
#include "pages/client/connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <map>
#include <random>

#include "scripted_agent.h"

namespace pingloom::pages::test::connection_test {
namespace {

using client::Answer;
using client::Connection;
using client::Received;

// Both ends of a connection.
struct Ends {
  Ends() {
    UniqueFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    folder.socket().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener.get(), 1), 0);
    EXPECT_EQ(connection.open(folder.socket()), "");
    agent.reset(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  Received receive(const std::vector<std::uint8_t>& bytes, Answer* answer) {
    EXPECT_EQ(send(agent.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    return connection.receive(answer);
  }

  SocketFolder folder;
  Connection connection;
  UniqueFd agent;
};

Message body(MessageType type, std::size_t bytes) {
  return {type, 3, std::vector<std::uint8_t>(bytes, 9), {}};
}

TEST(Connection, TakesAnswers) {
  Ends ends;
  Answer answer;
  EXPECT_EQ(ends.connection.receive(&answer), Received::kNothing);
  ASSERT_EQ(ends.receive(bytesOf(body(MessageType::kRegistered, 12)), &answer), Received::kAnswer);
  EXPECT_EQ(answer.owner, 0x0909090909090909u);
  EXPECT_EQ(answer.page, 3u);
  ASSERT_EQ(ends.receive(bytesOf(body(MessageType::kGranted, 8)), &answer), Received::kAnswer);
  EXPECT_EQ(answer.generation, 0x0909090909090909u);
  ASSERT_EQ(ends.receive(bytesOf(body(MessageType::kDefined, 0)), &answer), Received::kAnswer);
  ASSERT_EQ(ends.receive(bytesOf(refusal(Refusal::kQuota, "no\nmore")), &answer),
            Received::kAnswer);
  EXPECT_EQ(answer.why, "no?more") << "it may end on a terminal";
  ASSERT_EQ(ends.receive(bytesOf(refusal(Refusal::kQuota, std::string(9000, 'x'))), &answer),
            Received::kAnswer);
  EXPECT_EQ(answer.why.size(), 200u);
  ends.agent.reset();
  EXPECT_EQ(ends.connection.receive(&answer), Received::kEnd);
}

TEST(Connection, TakesNothingThatIsDamaged) {
  Ends ends;
  std::mt19937 random(1);
  const std::vector<std::vector<std::uint8_t>> whole{
      bytesOf(body(MessageType::kRegistered, 12)), bytesOf(body(MessageType::kGranted, 8)),
      bytesOf(body(MessageType::kDefined, 0)), bytesOf(refusal(Refusal::kQuota, "no more"))};
  std::map<Received, int> results;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::uint8_t> bytes = whole[random() % whole.size()];
    const std::size_t changes = 1 + random() % 3;
    for (std::size_t n = 0; n < changes && !bytes.empty(); ++n) {
      if (random() % 4 == 0) {
        bytes.resize(1 + random() % (bytes.size() + 8));
      } else {
        bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
      }
    }
    Answer answer;
    const Received received = ends.receive(bytes, &answer);
    ++results[received];
    EXPECT_FALSE(answer.fd.valid());
    EXPECT_LE(answer.why.size(), 200u);
  }
  EXPECT_EQ(results[Received::kAnswer] + results[Received::kBroken], 20'000);
  EXPECT_GT(results[Received::kBroken], results[Received::kAnswer] / 2);
}

TEST(Connection, SaysWhyThereIsNone) {
  Connection connection;
  EXPECT_EQ(connection.open("/nonexistent/pages.sock"),
            "/nonexistent/pages.sock: No such file or directory");
  EXPECT_NE(connection.open(std::string(108, 'x')), "");
  EXPECT_NE(connection.open(""), "");
  EXPECT_FALSE(connection.isOpen());
}

}  // namespace
}  // namespace pingloom::pages::test::connection_test
