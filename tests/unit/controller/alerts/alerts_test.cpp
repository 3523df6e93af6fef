// The whole way from a verdict on the board to servers that take notifications, or misbehave.
#include "controller/alerts/alerts.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <condition_variable>
#include <fstream>

#include "common/file.h"
#include "http/access_config.h"
#include "http/server.h"
#include "unit/controller/alerts/support.h"
#include "unit/http/certificate.h"

namespace pingloom::controller::alerts_test {
namespace {

using test::eventually;
using test::incidentOf;
using test::OddServer;
using test::targetOf;
using test::verdictOf;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

void takeIt(int socket, const std::string&) { OddServer::answer(socket, "200 OK"); }

struct AlertsTest : testing::Test {
  void start(const std::vector<AlertTarget>& targets) {
    auto started = Alerts::start(targets, folder.path() / "alerts", board);
    ASSERT_TRUE(started) << started.error().text();
    alerts = std::move(*started);
  }
  AlertTargetStatus status(const std::string& name) const {
    for (const AlertTargetStatus& one : *board.alerts()) {
      if (one.name == name) return one;
    }
    return {};
  }
  AlertTestAnswer testOf(const std::string& name) const {
    std::mutex mutex;
    std::condition_variable wake;
    std::optional<AlertTestAnswer> answer;
    alerts->test(name, [&](AlertTestAnswer given) {
      const std::lock_guard lock(mutex);
      answer = std::move(given);
      wake.notify_one();
    });
    std::unique_lock lock(mutex);
    wake.wait_for(lock, std::chrono::seconds(60), [&] { return answer.has_value(); });
    return answer.value_or(AlertTestAnswer{});
  }
  void writeSecret(const char* file, const std::string& text) const {
    std::ofstream(folder.path() / file) << text;
    ::chmod((folder.path() / file).c_str(), 0600);
  }

  test::TemporaryDirectory folder;
  Board board;
  std::unique_ptr<Alerts> alerts;
};

TEST_F(AlertsTest, AVerdictReachesAWebhook) {
  OddServer server(takeIt);
  auto target = targetOf(AlertKind::kWebhook, {server.url() + "/hook/?a=b"});
  writeSecret("token", "s3cret\n");
  target.secret_file = folder.path() / "token";
  start({target});
  board.publishVerdict(verdictOf({incidentOf(17)}));
  ASSERT_TRUE(eventually([&] { return status("oncall").delivered == 1; }));
  Incident closed = incidentOf(17);
  closed.closed_utc = test::kOpened + kMinute;
  board.publishVerdict(verdictOf({}, {closed}));
  ASSERT_TRUE(eventually([&] { return status("oncall").delivered == 2; }));
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_THAT(requests[0], testing::StartsWith("POST /hook/?a=b HTTP/1.1\r\n"));
  EXPECT_THAT(requests[0], HasSubstr("Authorization: Bearer s3cret\r\n"));
  EXPECT_THAT(requests[0], HasSubstr("Idempotency-Key: 17-1795230720-0-0\r\n"));
  EXPECT_EQ(Json::parse(server.bodies()[0])["status"], "firing");
  EXPECT_EQ(Json::parse(server.bodies()[1])["status"], "resolved");
  EXPECT_EQ(status("oncall").waiting, 0U);
  EXPECT_NE(status("oncall").last_delivered_utc, 0);
}

TEST_F(AlertsTest, WhatAnotherControllerTellsIsNotToldAgain) {
  OddServer server(takeIt);
  std::atomic<bool> leads{false};
  auto started = Alerts::start({targetOf(AlertKind::kWebhook, {server.url()})},
                               folder.path() / "alerts", board, [&leads] { return leads.load(); });
  ASSERT_TRUE(started) << started.error().text();
  alerts = std::move(*started);
  board.publishVerdict(verdictOf({incidentOf(17)}));
  ASSERT_TRUE(eventually(
      [&] { return std::filesystem::exists(folder.path() / "alerts" / "oncall" / "told"); }));
  ASSERT_TRUE(eventually(
      [&] { return !std::filesystem::is_empty(folder.path() / "alerts" / "oncall" / "told"); }));
  leads = true;
  board.publishVerdict(verdictOf({incidentOf(17), incidentOf(18)}));
  ASSERT_TRUE(eventually([&] { return status("oncall").delivered == 1; }));
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_THAT(server.requests()[0], HasSubstr("Idempotency-Key: 18-"));
}

TEST_F(AlertsTest, NobodyWaitsForAServerThatMisbehaves) {
  OddServer good(takeIt);
  OddServer hangs([&](int, const std::string&) {
    while (!hangs.stopping) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  OddServer redirects([&](int socket, const std::string&) {
    OddServer::answer(socket, "302 Found", "Location: " + good.url() + "/redirected\r\n");
  });
  OddServer endless([&](int socket, const std::string&) {
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n";
    ::send(socket, head.data(), head.size(), MSG_NOSIGNAL);
    const std::string piece(1 << 20, 'x');
    for (int i = 0; i < 1000 && !endless.stopping; ++i) {
      if (::send(socket, piece.data(), piece.size(), MSG_NOSIGNAL) < 0) return;
    }
  });
  OddServer refuses(
      [](int socket, const std::string&) { OddServer::answer(socket, "400 Bad Request"); });
  start({targetOf(AlertKind::kWebhook, {hangs.url()}, "hangs"),
         targetOf(AlertKind::kWebhook, {redirects.url()}, "redirects"),
         targetOf(AlertKind::kWebhook, {endless.url()}, "endless"),
         targetOf(AlertKind::kWebhook, {refuses.url()}, "refuses"),
         targetOf(AlertKind::kWebhook, {"http://127.0.0.1:1"}, "nobody"),
         targetOf(AlertKind::kSlack, {good.url()}, "good")});
  const Nanos before_mono = monotonicNow();
  board.publishVerdict(verdictOf({incidentOf(1)}));
  ASSERT_TRUE(eventually([&] { return status("good").delivered == 1; }));
  EXPECT_LT(monotonicNow() - before_mono, 5 * kSecond);
  ASSERT_TRUE(eventually([&] { return status("endless").delivered == 1; }));
  ASSERT_TRUE(eventually([&] { return status("refuses").dropped == 1; }));
  EXPECT_EQ(status("refuses").waiting, 0U);
  EXPECT_THAT(status("refuses").last_error, HasSubstr("answered 400"));
  ASSERT_TRUE(eventually([&] { return status("redirects").failed >= 2; })) << "it is repeated";
  EXPECT_THAT(status("redirects").last_error, HasSubstr("answered 302, a redirect"));
  ASSERT_TRUE(eventually([&] { return status("nobody").failed >= 1; }));
  EXPECT_EQ(status("nobody").waiting, 1U);
  EXPECT_EQ(status("hangs").waiting, 1U);
  EXPECT_EQ(good.requests().size(), 1U) << "no redirect was followed";
  const Nanos stopped_mono = monotonicNow();
  alerts.reset();
  EXPECT_LT(monotonicNow() - stopped_mono, 5 * kSecond) << "the end waits for no server";
}

TEST_F(AlertsTest, AFailureIsRepeatedWithTheSameKey) {
  std::atomic<int> answers{0};
  OddServer server([&](int socket, const std::string&) {
    const int answered = answers++;
    OddServer::answer(socket, answered == 0   ? "500 Oops"
                              : answered == 1 ? "429 Too Many Requests"
                                              : "204 No Content");
  });
  start({targetOf(AlertKind::kWebhook, {server.url()})});
  board.publishVerdict(verdictOf({incidentOf(1)}));
  ASSERT_TRUE(eventually([&] { return status("oncall").delivered == 1; }));
  EXPECT_EQ(status("oncall").failed, 2U);
  EXPECT_EQ(status("oncall").dropped, 0U);
  EXPECT_EQ(status("oncall").last_error, "");
  const auto bodies = server.bodies();
  ASSERT_EQ(bodies.size(), 3U);
  EXPECT_EQ(bodies[0], bodies[2]);
}

TEST_F(AlertsTest, WhatWaitsIsDeliveredAfterARestart) {
  const std::string nowhere = "http://127.0.0.1:1";
  start({targetOf(AlertKind::kWebhook, {nowhere})});
  board.publishVerdict(verdictOf({incidentOf(1)}));
  ASSERT_TRUE(eventually([&] { return status("oncall").failed >= 1; }));
  alerts.reset();
  OddServer server(takeIt);
  start({targetOf(AlertKind::kWebhook, {server.url()})});
  ASSERT_TRUE(eventually([&] { return status("oncall").delivered == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(server.requests().size(), 1U) << "the incident is still open, and is not told again";
}

TEST_F(AlertsTest, EachInstanceOfAnAlertmanagerGetsEveryAlert) {
  OddServer first(takeIt);
  OddServer second(takeIt);
  start({targetOf(AlertKind::kAlertmanager,
                  {first.url(), second.url() + "/prefix", "http://127.0.0.1:1"})});
  board.publishVerdict(verdictOf({incidentOf(1), incidentOf(2)}));
  ASSERT_TRUE(eventually([&] { return status("oncall").delivered == 4; }));
  EXPECT_THAT(first.requests()[0], testing::StartsWith("POST /api/v2/alerts HTTP/1.1"));
  EXPECT_THAT(second.requests()[0], testing::StartsWith("POST /prefix/api/v2/alerts HTTP/1.1"));
  ASSERT_TRUE(eventually([&] { return status("oncall").waiting == 2; }));
}

TEST_F(AlertsTest, SecretsAreInNoError) {
  OddServer server(
      [](int socket, const std::string&) { OddServer::answer(socket, "403 Forbidden"); });
  writeSecret("url", server.url() + "/services/T0/SECRET\n");
  auto slack = targetOf(AlertKind::kSlack, {}, "slack");
  slack.url_file = folder.path() / "url";
  auto pagerduty = targetOf(AlertKind::kPagerduty, {server.url() + "/v2/enqueue"}, "pagerduty");
  pagerduty.secret_file = folder.path() / "open";
  std::ofstream(folder.path() / "open") << "ROUTINGKEY";
  ::chmod((folder.path() / "open").c_str(), 0644);
  start({slack, pagerduty});
  board.publishVerdict(verdictOf({incidentOf(1)}));
  ASSERT_TRUE(eventually([&] { return status("slack").dropped == 1; }));
  EXPECT_THAT(status("slack").last_error, testing::Not(HasSubstr("SECRET")));
  EXPECT_THAT(server.requests()[0], HasSubstr("POST /services/T0/SECRET HTTP/1.1"));
  ASSERT_TRUE(eventually([&] { return status("pagerduty").failed >= 1; }));
  EXPECT_THAT(status("pagerduty").last_error, HasSubstr("run: chmod"));
  writeSecret("open", "ROUTINGKEY");
  ASSERT_TRUE(eventually([&] { return status("pagerduty").dropped == 1; })) << "read again";
}

TEST_F(AlertsTest, ACertificateIsAlwaysChecked) {
  const auto certificate = folder.path() / "a.crt";
  const auto other = folder.path() / "b.crt";
  http::makeCertificate(other, folder.path() / "b.key", "IP:127.0.0.1");
  http::makeCertificate(certificate, folder.path() / "a.key", "IP:127.0.0.1");
  http::AccessFiles files;
  files.certificate = certificate;
  files.key = folder.path() / "a.key";
  auto access = http::openAccess(files);
  ASSERT_TRUE(access) << access.error().text();
  http::ServerOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  options.access = *access;
  const auto server =
      http::Server::start(options, [](const http::Request&) { return http::Response(); }, {});
  ASSERT_TRUE(server) << server.error().text();
  const std::string url = "https://" + (*server)->address().text() + "/hook";
  auto trusts = targetOf(AlertKind::kWebhook, {url}, "trusts");
  trusts.ca_file = certificate;
  auto mistrusts = targetOf(AlertKind::kWebhook, {url}, "mistrusts");
  mistrusts.ca_file = other;
  const auto system = targetOf(AlertKind::kWebhook, {url}, "system");
  start({trusts, mistrusts, system});
  board.publishVerdict(verdictOf({incidentOf(1)}));
  ASSERT_TRUE(eventually([&] { return status("trusts").delivered == 1; }))
      << status("trusts").last_error;
  for (const char* name : {"mistrusts", "system"}) {
    ASSERT_TRUE(eventually([&] { return status(name).failed >= 1; }));
    EXPECT_THAT(status(name).last_error, HasSubstr("certificate is not trusted"));
    EXPECT_THAT(status(name).last_error, HasSubstr("'ca_file'"));
    EXPECT_EQ(status(name).delivered, 0U);
  }
}

TEST_F(AlertsTest, ACommandGetsTheDocument) {
  const auto script = folder.path() / "page";
  std::ofstream(script) << "#!/bin/sh\ncat > " << (folder.path() / "got").native()
                        << "\necho \"paged $1\"\nexit \"$2\"\n";
  ::chmod(script.c_str(), 0755);
  auto good = targetOf(AlertKind::kCommand, {}, "good");
  good.argv = {script.native(), "--x", "0"};
  auto bad = good;
  bad.name = "bad";
  bad.argv = {script.native(), "a b; c", "3"};
  auto none = good;
  none.name = "none";
  none.argv = {"/nonexistent/page"};
  start({good, bad, none});
  const auto delivered = testOf("good");
  ASSERT_EQ(delivered.places.size(), 1U);
  EXPECT_TRUE(delivered.places[0].result.delivered) << delivered.places[0].result.error;
  EXPECT_EQ(delivered.places[0].result.answer, "paged --x\n");
  const auto document = readFile(folder.path() / "got", 65'536);
  EXPECT_EQ(Json::parse(*document)["commonLabels"]["alertname"], "PingloomTest");
  const auto failed = testOf("bad").places.at(0).result;
  EXPECT_THAT(failed.error, HasSubstr("exit code 3"));
  EXPECT_EQ(failed.answer, "paged a b; c\n");
  EXPECT_THAT(testOf("none").places.at(0).result.error, HasSubstr("cannot be started"));
}

TEST_F(AlertsTest, ATestTellsWhatCameBack) {
  OddServer server([](int socket, const std::string& request) {
    const std::string text = "HTTP/1.1 401 No\r\nContent-Length: 5\r\n\r\nwho?\x01";
    EXPECT_THAT(request, HasSubstr("pingloom"));
    ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
  });
  start({targetOf(AlertKind::kSlack, {server.url() + "/x"})});
  EXPECT_EQ(testOf("nobody").refusal, AlertTestRefusal::kUnknown);
  const auto answer = testOf("oncall");
  ASSERT_EQ(answer.places.size(), 1U);
  EXPECT_EQ(answer.places[0].name, server.url());
  EXPECT_EQ(answer.places[0].result.status, 401U);
  EXPECT_EQ(answer.places[0].result.answer, "who? ");
  EXPECT_EQ(status("oncall").dropped, 0U) << "tests are not counted";
  alerts->stopTests();
  EXPECT_EQ(testOf("oncall").refusal, AlertTestRefusal::kEnding);
}

TEST_F(AlertsTest, TestsInFlightAreGivenUpAtTheEnd) {
  OddServer hangs([&](int, const std::string&) {
    while (!hangs.stopping) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  start({targetOf(AlertKind::kWebhook, {hangs.url()})});
  std::atomic<int> answered{0};
  alerts->test("oncall", [&](const AlertTestAnswer& answer) {
    EXPECT_THAT(answer.places.at(0).result.error, HasSubstr("ending"));
    ++answered;
  });
  EXPECT_EQ(testOf("oncall").refusal, AlertTestRefusal::kBusy);
  ASSERT_TRUE(eventually([&] { return !hangs.requests().empty(); }));
  alerts->stopTests();
  EXPECT_EQ(answered, 1);
  alerts.reset();
  EXPECT_EQ(answered, 1);
}

}  // namespace
}  // namespace pingloom::controller::alerts_test
