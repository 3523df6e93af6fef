// A forked child counts on pages of its own, as an owner of its own.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "client.h"

namespace pingloom::pages::test::fork_test {
namespace {

// The exit code of a child that runs `body`.
int inChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// ThreadSanitizer's runtime takes a forked child's new thread for one of its parent's, and ends it.
class Fork : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer does not allow threads in forked children";
#endif
  }
};

TEST_F(Fork, LeavesTheParentsValuesAlone) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket());
  Client client(folder.socket());
  const auto counter = client.counter("a");
  pingloom_group group;
  ASSERT_EQ(pingloom_group_make(client, &group), PINGLOOM_OK);
  const auto grouped = client.counter("b", &group);
  ASSERT_TRUE(client.settled());
  pingloom_counter_add(counter, 10);
  pingloom_group_begin(group);  // the child's begins anew
  pingloom_counter_add(grouped, 20);
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (*counter.slot != 0 || *grouped.slot != 0) _exit(1);
    pingloom_counter_add(counter, 1);
    pingloom_group_commit(group);
    if (group.page->header.sequence != 2) _exit(2);
    if (!client.settled()) _exit(3);
    char byte = 0;
    _exit(read(go[0], &byte, 1) == 1 ? 0 : 4);
  }
  pingloom_group_commit(group);
  EXPECT_TRUE(eventually([&] { return agent.connections() == 2 && agent.definitions() == 2; }));
  const auto owners = agent.owners();
  EXPECT_TRUE(owners[0].connected) << "the child has closed nothing of the parent's";
  ASSERT_EQ(owners[0].pages.size(), 2u);
  ASSERT_EQ(owners[1].pages.size(), 2u);
  EXPECT_EQ(load(owners[0].pages.begin()->second.memory->slots[0]), 10u);
  EXPECT_EQ(load(owners[1].pages.begin()->second.memory->slots[0]), 1u);
  EXPECT_EQ(owners[1].pages.begin()->second.memory->header.slots, 1u);
  EXPECT_EQ(*counter.slot, 10u);
  EXPECT_EQ(*grouped.slot, 20u);
  ASSERT_EQ(write(go[1], "g", 1), 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(eventually([&] { return !agent.owners()[1].connected; }));
  EXPECT_TRUE(agent.owners()[0].connected);
  close(go[0]);
  close(go[1]);
}

TEST_F(Fork, ChildrenHaveWhatWasNotRemoved) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket());
  Client client(folder.socket());
  const auto gone = client.counter("gone");
  const auto kept = client.counter("kept");
  ASSERT_TRUE(client.settled());
  EXPECT_EQ(client.remove("gone"), PINGLOOM_OK);
  const int outcome = inChild([&] {
    pingloom_counter_add(gone, 1);  // by code that has not noticed
    pingloom_counter_add(kept, 2);
    if (!client.settled() || client.status().metrics != 1) return 1;
    if (client.remove("kept") != PINGLOOM_OK) return 2;
    return client.counter("kept").slot == kept.slot ? 3 : 0;
  });
  EXPECT_EQ(outcome, 0);
  EXPECT_TRUE(client.settled());
  EXPECT_EQ(client.status().metrics, 1u) << "what the child removes stays the parent's";
  EXPECT_EQ(*kept.slot, 0u);
  const auto owners = agent.owners();
  ASSERT_EQ(owners.size(), 2u);
  EXPECT_EQ(owners[0].pages.begin()->second.definitions.size(), 1u);
}

TEST_F(Fork, ChildrenMayForkMakeMetricsAndClose) {
  Client client("/nonexistent/pages.sock");
  const auto counter = client.counter("a");
  pingloom_counter_add(counter, 1);
  EXPECT_EQ(inChild([&] {
              const auto more = client.counter("b");
              pingloom_counter_add(more, 5);
              const int grandchild = inChild([&] { return *more.slot == 0 ? 0 : 1; });
              if (*more.slot != 5 || *counter.slot != 0) return 1;
              pingloom_pages_close(client);
              return grandchild;
            }),
            0);
  EXPECT_EQ(*counter.slot, 1u);
}

// Children that are forked while other threads make metrics and write find everything whole.
TEST_F(Fork, MayHappenAtAnyTime) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket());
  Client client(folder.socket());
  const auto counter = client.counter("a");
  std::atomic<bool> stop{false};
  std::uint64_t written = 0;
  std::thread writer([&] {
    for (; !stop; ++written) pingloom_counter_add(counter, 1);
  });
  std::thread maker([&] {
    for (int i = 0; i < 400 && !stop; ++i) client.counter("made_" + std::to_string(i));
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(inChild([&] {
                const auto mine = client.counter("child");
                pingloom_counter_add(mine, 1);
                return *mine.slot == 1 && *counter.slot == 0 ? 0 : 1;
              }),
              0);
  }
  stop = true;
  writer.join();
  maker.join();
  EXPECT_EQ(*counter.slot, written);
}

TEST_F(Fork, AProgramThatIsStartedAtOnceRegistersNothing) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket());
  Client client(folder.socket());
  client.counter("a");
  ASSERT_TRUE(client.settled());
  constexpr std::size_t kPrograms = 5;
  for (std::size_t i = 0; i < kPrograms; ++i) {
    EXPECT_EQ(inChild([] { return execl("/bin/true", "true", nullptr); }), 0);
  }
  // On a machine so busy that starting one takes 0.1 s, one or the other may have.
  EXPECT_LT(agent.connections(), 1 + kPrograms);
}

}  // namespace
}  // namespace pingloom::pages::test::fork_test
