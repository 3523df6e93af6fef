#include "report/client/outbox.h"

#include <gtest/gtest.h>

#include "listener.h"
#include "wire/report_writer.h"

namespace pingloom::report::client::outbox_test {
namespace {

using test::Listener;

constexpr std::int64_t kMs = 1'000'000;
constexpr wire::ReportKey kKey = {1, 2, 3};

OutboxOptions options(std::size_t longest = 1400) {
  OutboxOptions made;
  made.reporter = 7;
  made.longest = longest;
  return made;
}

class Sender {
 public:
  explicit Sender(const OutboxOptions& of) : outbox_(of), sealed_(of.key.has_value()) {
    EXPECT_EQ(outbox_.open(*parseTranslator(listener_.name())), 0);
  }
  // Reports a number in a datagram.
  void add(std::uint32_t number, std::int64_t now = 0) {
    std::array<std::uint8_t, 400> buffer{};
    std::array<std::uint8_t, 4> key{};
    wire::storeBe32(key.data(), number);
    wire::ReportWriter writer(buffer, sealed_);
    wire::ReportItem item;
    item.key = key;
    item.value = key;
    writer.add(item);
    outbox_.add(writer.finish(outbox_.head()), now);
  }
  // Returns the number in the next datagram, or nullopt if there is none.
  std::optional<std::uint32_t> next() {
    const auto datagram = listener_.receive(0, sealed_ ? &kKey : nullptr);
    if (!datagram) return std::nullopt;
    head_ = datagram->head;
    return wire::loadBe32(
        reinterpret_cast<const std::uint8_t*>(datagram->reports.at(0).key.data()));
  }
  int arrived() {
    int count = 0;
    while (next()) ++count;
    return count;
  }
  void grant(std::uint32_t until) { listener_.grant(head_, until, sealed_ ? &kKey : nullptr); }
  Outbox& outbox() { return outbox_; }
  Listener& listener() { return listener_; }
  const wire::ReportHead& head() const { return head_; }

 private:
  Listener listener_;
  Outbox outbox_;
  const bool sealed_;
  wire::ReportHead head_;  // of the last datagram that arrived
};

TEST(Outbox, SendsAtOnceToThoseThatDoNotAnswer) {
  Sender sender(options());
  for (std::uint32_t i = 1; i <= 50; ++i) {
    sender.add(i);
    EXPECT_EQ(sender.next(), i);
    EXPECT_EQ(sender.head().sequence, i);
  }
  EXPECT_EQ(sender.outbox().status().sent, 50U);
}

TEST(Outbox, WaitsForCredit) {
  Sender sender(options());
  sender.add(1);
  EXPECT_EQ(sender.next(), 1U);
  sender.grant(3);
  sender.outbox().work(0);
  for (std::uint32_t i = 2; i <= 6; ++i) sender.add(i);
  EXPECT_EQ(sender.next(), 2U);
  EXPECT_EQ(sender.next(), 3U);
  EXPECT_FALSE(sender.next());
  EXPECT_TRUE(sender.outbox().isBusy(3600'000 * kMs)) << "datagrams wait";
  EXPECT_EQ(sender.outbox().status().sent, 3U);
  sender.grant(5);
  sender.add(7);  // which looks for credit, too
  EXPECT_EQ(sender.next(), 4U);
  EXPECT_EQ(sender.next(), 5U);
  EXPECT_FALSE(sender.next());
  sender.grant(100);
  sender.outbox().work(0);
  EXPECT_EQ(sender.next(), 6U);
  EXPECT_EQ(sender.next(), 7U);
  EXPECT_EQ(sender.head().sequence, 7U);
  EXPECT_EQ(sender.outbox().status().skipped, 0U);
}

TEST(Outbox, LooksForRepliesWhileItSends) {
  Sender sender(options());
  sender.add(1);
  EXPECT_EQ(sender.next(), 1U);
  sender.grant(70);
  for (std::uint32_t i = 2; i <= 200; ++i) sender.add(i);
  EXPECT_EQ(sender.arrived(), 69);
}

TEST(Outbox, ALostReplyStopsNothing) {
  Sender sender(options());
  sender.add(1);
  EXPECT_EQ(sender.next(), 1U);
  sender.grant(1);
  sender.outbox().work(0);
  for (std::uint32_t i = 2; i <= 100; ++i) sender.add(i);
  EXPECT_EQ(sender.arrived(), 0);
  std::int64_t now = 0;
  for (std::uint32_t probe = 0; probe < 9; ++probe) {
    now += Credit::kProbeEvery;
    sender.outbox().work(now);
    EXPECT_EQ(sender.next(), 2 + probe);
    EXPECT_FALSE(sender.next());
  }
  sender.outbox().work(now + Credit::kProbeEvery);
  EXPECT_EQ(sender.arrived(), 90) << "nobody answers";
}

TEST(Outbox, SendsNoMoreAgainThanItKeeps) {
  Sender sender(options(SentRing::kBytes / 4));
  sender.add(1);
  sender.add(2);
  EXPECT_EQ(sender.arrived(), 2);
  const std::vector<wire::ReportRange> everything(wire::kMaxReportRanges, {1, 2});
  sender.listener().ask(sender.head(), everything);
  sender.outbox().work(0);
  EXPECT_EQ(sender.arrived(), 4) << "no more than the ring has room for";
  EXPECT_EQ(sender.outbox().status().repeated, 4U);
}

TEST(Outbox, DropsTheOldestThatWaits) {
  Sender sender(options());
  const auto kept = static_cast<std::uint32_t>(SentRing(1400).datagrams());
  sender.add(1);
  EXPECT_EQ(sender.next(), 1U);
  sender.grant(1);
  sender.outbox().work(0);
  for (std::uint32_t i = 2; i <= kept + 101; ++i) sender.add(i);
  EXPECT_EQ(sender.outbox().status().skipped, 100U);
  sender.grant(100);
  sender.outbox().work(0);
  EXPECT_EQ(sender.next(), 102U);
  EXPECT_EQ(sender.head().sequence, 2U) << "what was dropped has no sequence";
  EXPECT_EQ(sender.head().skipped, 100U);
  EXPECT_EQ(sender.arrived(), 98);
  // Those that were sent can be asked for, before and behind what was dropped.
  sender.listener().ask(sender.head(), {{2, 2}, {100, 1}, {101, 5}, {0, 1}});
  sender.outbox().work(0);
  EXPECT_EQ(sender.next(), 102U);
  EXPECT_EQ(sender.next(), 103U);
  EXPECT_EQ(sender.next(), 200U);
  EXPECT_EQ(sender.outbox().status().repeated, 3U);
}

TEST(Outbox, SendsEverythingAtItsEnd) {
  Sender sender(options());
  sender.add(1);
  EXPECT_EQ(sender.next(), 1U);
  sender.grant(1);
  sender.outbox().work(0);
  for (std::uint32_t i = 2; i <= 50; ++i) sender.add(i);
  sender.outbox().sendAll();
  EXPECT_EQ(sender.arrived(), 49);
}

TEST(Outbox, SealsWhatItSendsAndChecksReplies) {
  auto sealed = options();
  sealed.key = kKey;
  Sender sender(sealed);
  sender.add(1);
  EXPECT_EQ(sender.next(), 1U);
  EXPECT_EQ(sender.head().flags, wire::kReportKeeps | wire::kReportSealed);
  constexpr wire::ReportKey kOther = {1, 2, 4};
  sender.listener().ask(sender.head(), {{1, 1}});
  sender.listener().ask(sender.head(), {{1, 1}}, &kOther);
  sender.outbox().work(0);
  EXPECT_FALSE(sender.next()) << "those replies were forged";
  sender.listener().ask(sender.head(), {{1, 1}}, &kKey);
  sender.outbox().work(0);
  EXPECT_EQ(sender.next(), 1U);
  EXPECT_EQ(sender.head().flags, wire::kReportKeeps | wire::kReportSealed | wire::kReportAgain);
}

TEST(Outbox, ThoseThatForgetDoNotWait) {
  auto forgetting = options();
  forgetting.keeps = false;
  Sender sender(forgetting);
  sender.add(1);
  EXPECT_EQ(sender.next(), 1U);
  sender.grant(1);
  sender.outbox().work(0);
  sender.add(2);
  EXPECT_EQ(sender.next(), 2U);
  EXPECT_FALSE(sender.outbox().isBusy(0));
}

}  // namespace
}  // namespace pingloom::report::client::outbox_test
