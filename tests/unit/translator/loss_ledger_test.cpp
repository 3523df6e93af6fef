#include "translator/loss_ledger.h"

#include <gtest/gtest.h>

#include <string>

#include "taken.h"

namespace pingloom::translator::loss_ledger_test {
namespace {

using test::kLatest;
using test::kRemote;
using test::Taken;
using wire::ReportRefusal;

ReporterSpecs specs(const std::vector<std::uint32_t>& numbers) {
  ReporterSpecs made;
  for (const std::uint32_t number : numbers) made.emplace_back().id = number;
  return made;
}

void permit(Taken& taken, const ReporterSpecs& specs) {
  taken.intake().setRules(std::make_unique<ReporterRules>(specs));
}

ReporterLosses lossesOf(Taken& taken) {
  ReporterLosses losses;
  taken.intake().losses().copyTo(losses);
  return losses;
}

std::uint64_t refused(const Losses& losses, ReportRefusal reason) {
  return losses.refused[static_cast<std::size_t>(reason)];
}

std::string complaintOf(Taken& taken) {
  const auto complaint = taken.intake().losses().complain();
  return complaint ? text(*complaint) : "";
}

void settle(Taken& taken) {
  taken.intake().reporters().settle(0);
  taken.intake().reporters().settle(0);
}

TEST(LossLedger, CountsByReporter) {
  Taken taken;
  permit(taken, specs({9, 7}));
  taken.take(Taken::datagram(7, 1, {99, kLatest}));
  taken.take(Taken::datagram(7, 1));
  taken.take(Taken::datagram(9, 1));
  taken.take(Taken::datagram(9, 4));
  taken.take(Taken::datagram(8, 1));
  taken.take(Taken::datagram(7, 2), kRemote);
  taken.take({});
  settle(taken);
  const ReporterLosses losses = lossesOf(taken);
  ASSERT_EQ(losses.reporters.size(), 2U);
  const auto& [seven, of_seven] = losses.reporters[0];
  const auto& [nine, of_nine] = losses.reporters[1];
  EXPECT_EQ(seven, 7U);
  EXPECT_EQ(nine, 9U);
  EXPECT_EQ(refused(of_seven, ReportRefusal::kUnknownTable), 1U);
  EXPECT_EQ(refused(of_seven, ReportRefusal::kDuplicate), 1U);
  EXPECT_EQ(of_seven.refusedInAll(), 2U);
  EXPECT_EQ(of_nine.lost, 2U);
  EXPECT_EQ(of_nine.refusedInAll(), 0U);
  EXPECT_EQ(refused(losses.other, ReportRefusal::kUnknownReporter), 2U);
  EXPECT_EQ(refused(losses.other, ReportRefusal::kShort), 1U);
  EXPECT_EQ(of_seven.refusedInAll() + losses.other.refusedInAll(), taken.counters().refusedInAll());
  EXPECT_EQ(of_nine.lost, taken.counters().lost);
}

TEST(LossLedger, ACopyIsMadeOnlyOfChanges) {
  LossLedger ledger;
  ReporterLosses copy;
  ledger.skip(1, 5);
  ledger.copyTo(copy);
  EXPECT_EQ(copy.other.skipped, 5U);
  copy.other.skipped = 0;
  ledger.copyTo(copy);
  EXPECT_EQ(copy.other.skipped, 0U);
  ledger.lose(1, 0);
  ledger.copyTo(copy);
  EXPECT_EQ(copy.other.skipped, 0U);
  ledger.lose(1, 1);
  ledger.copyTo(copy);
  EXPECT_EQ(copy.other.skipped, 5U);
}

TEST(LossLedger, KeepsItsCountsDuringAReload) {
  LossLedger ledger;
  ledger.setReporters({1, 2});
  ledger.lose(1, 10);
  ledger.lose(2, 20);
  ledger.lose(3, 30);
  EXPECT_TRUE(ledger.complain());
  ledger.setReporters({3, 2});
  EXPECT_FALSE(ledger.complain()) << "the log has said it";
  ledger.lose(3, 1);
  ReporterLosses losses;
  ledger.copyTo(losses);
  ASSERT_EQ(losses.reporters.size(), 2U);
  EXPECT_EQ(losses.reporters[0].second.lost, 20U);
  EXPECT_EQ(losses.reporters[1].second.lost, 1U);
  EXPECT_EQ(losses.other.lost, 40U) << "reporter 1 is an other one now";
}

TEST(LossLedger, ThreadsAreSummed) {
  LossLedger one, two;
  one.setReporters({1, 3});
  two.setReporters({2, 3});
  one.lose(3, 10);
  two.lose(3, 5);
  two.lose(2, 2);
  two.skip(4, 7);
  ReporterLosses sums, more;
  one.copyTo(sums);
  two.copyTo(more);
  sums.add(more);
  ASSERT_EQ(sums.reporters.size(), 3U);
  EXPECT_EQ(sums.reporters[1].second.lost, 2U);
  EXPECT_EQ(sums.reporters[2].first, 3U);
  EXPECT_EQ(sums.reporters[2].second.lost, 15U);
  EXPECT_EQ(sums.other.skipped, 7U);
}

TEST(Complaint, NamesTheWorstReporterAndTheReason) {
  Taken taken;
  permit(taken, specs({7, 9}));
  EXPECT_EQ(complaintOf(taken), "");
  taken.take(Taken::datagram(9, 1, {99}));
  taken.take(Taken::datagram(7, 1, {98, 99}));
  EXPECT_EQ(
      complaintOf(taken),
      "reporter 7: 0 datagrams lost, 2 datagrams or reports refused; the latest is from reporter "
      "7 at 127.0.0.1 with the reason 'unknown_table': the store has no table 99: `pingloom dta "
      "tables` shows them; further reporters with losses: 1 (/metrics)");
  EXPECT_EQ(complaintOf(taken), "") << "it was said";
  taken.take(Taken::datagram(9, 3));
  settle(taken);
  EXPECT_EQ(
      complaintOf(taken),
      "reporter 9: 1 datagrams lost, 0 datagrams or reports refused; the network loses them, or, "
      "if pingloom_translator_socket_overflow_total grows, this host is too slow");
}

TEST(Complaint, SaysWhatToDoAboutStrangers) {
  Taken taken;
  taken.take(Taken::datagram(5, 1), kRemote);
  const std::string open = complaintOf(taken);
  EXPECT_NE(open.find("other reporters: "), std::string::npos) << open;
  EXPECT_NE(open.find("reporter 5 at 10.1.2.3"), std::string::npos) << open;
  EXPECT_NE(open.find("without 'reporters' only this host may report"), std::string::npos) << open;
  permit(taken, specs({7}));
  taken.take(Taken::datagram(7, 1), kRemote);
  const std::string strict = complaintOf(taken);
  EXPECT_NE(strict.find("reporter 7 at 10.1.2.3"), std::string::npos) << strict;
  EXPECT_NE(strict.find("this address, into 'reporters'"), std::string::npos) << strict;
  taken.take({});
  const std::string noise = complaintOf(taken);
  EXPECT_NE(noise.find("a sender at 127.0.0.1 with the reason 'short'"), std::string::npos)
      << noise;
}

TEST(Complaint, KeepsWhatWasSkippedForTheNextLine) {
  LossLedger ledger;
  ledger.setReporters({1, 2});
  ledger.skip(1, 5);
  EXPECT_FALSE(ledger.complain()) << "reporters skip without the translator's fault";
  ledger.lose(2, 1);
  EXPECT_EQ(ledger.complain()->reporter, 2U);
  ledger.lose(1, 1);
  const auto complaint = ledger.complain();
  ASSERT_TRUE(complaint);
  EXPECT_EQ(complaint->skipped, 5U);
  EXPECT_NE(text(*complaint).find("5 reports skipped"), std::string::npos);
}

TEST(Complaint, SaysWhatToDoAboutSwitches) {
  Complaint complaint;
  complaint.refused = 1;
  complaint.latest.sender = Refused::Sender::kSwitch;
  for (const auto& [reason, advice] :
       {std::pair{ReportRefusal::kUnknownReporter, "'addresses' of 'published'"},
        std::pair{ReportRefusal::kUnknownTable, "'tables' of 'published'"},
        std::pair{ReportRefusal::kOperation, "something else than packets of the published DTA"}}) {
    complaint.latest.reason = reason;
    EXPECT_NE(text(complaint).find(advice), std::string::npos) << text(complaint);
  }
}

TEST(Complaint, EveryReasonHasAnAdvice) {
  for (std::size_t i = 1; i < wire::kReportRefusals; ++i) {
    Complaint complaint;
    complaint.refused = 1;
    complaint.latest.reason = static_cast<ReportRefusal>(i);
    complaint.latest.table = 12;
    complaint.latest.sender = Refused::Sender::kReporter;
    const std::string line = text(complaint);
    EXPECT_GT(line.size(), line.find("': ") + 10) << line;
    EXPECT_EQ(complaint.latest.reason == ReportRefusal::kForbidden,
              line.find("into 'tables' of the reporter") != std::string::npos)
        << line;
  }
}

}  // namespace
}  // namespace pingloom::translator::loss_ledger_test
