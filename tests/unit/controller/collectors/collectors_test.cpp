// The registry of collectors, with collectors that are HTTP servers of this test.
#include "controller/collectors/collectors.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>

#include "http/access.h"
#include "http/access_config.h"
#include "http/server.h"
#include "unit/common/temporary_directory.h"
#include "unit/eventually.h"

namespace pingloom::controller::collectors_test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr Instant kStart{1000 * kSecond, 1'795'230'720 * kSecond};
Instant after(Nanos time) { return {kStart.mono + time, kStart.utc + time}; }
IpAddress otherHost() { return IpAddress::fromV4(0x0a000005); }  // 10.0.0.5
IpAddress loopback() { return IpAddress::fromV4(0x7f000001); }

Enrolment enrolment(std::string url, IpAddress sender = otherHost(), bool trusted = false) {
  return {"dpu-1", std::move(url), sender, trusted};
}

// Never answered: nobody has the address 192.0.2.x (RFC 5737), and tests of the registry alone do
// not wait for answers.
TEST(Collectors, ACollectorRegistersTheAddressItComesFrom) {
  PageAnomalies anomalies;
  CollectorRoster roster;
  Collectors collectors({}, anomalies, roster);
  const auto url = collectors.enrol(enrolment("http://0.0.0.0:20715"), kStart);
  ASSERT_TRUE(url) << url.error().second;
  EXPECT_EQ(*url, "http://10.0.0.5:20715");
  EXPECT_TRUE(collectors.enrol(enrolment("http://10.0.0.5:20715"), after(kSecond)));
  const auto list = collectors.list(after(kSecond).mono);
  ASSERT_EQ(list.size(), 1U);  // a second registration is a heartbeat
  EXPECT_EQ(list[0].name, "dpu-1");
  EXPECT_EQ(list[0].heard_utc, after(kSecond).utc);
  EXPECT_TRUE(list[0].alive);
}

TEST(Collectors, OneThatFallsSilentIsGoneAndThenForgotten) {
  PageAnomalies anomalies;
  CollectorRoster roster;
  Collectors collectors({}, anomalies, roster);
  ASSERT_TRUE(collectors.enrol(enrolment("http://0.0.0.0:20715"), kStart));
  EXPECT_TRUE(collectors.list(after(Collectors::kGone).mono)[0].alive);
  EXPECT_FALSE(collectors.list(after(Collectors::kGone + 1).mono)[0].alive);
  EXPECT_TRUE(collectors.merged(&CollectorView::applications, after(Collectors::kGone + 1).mono)
                  .views.empty());
  EXPECT_EQ(collectors.list(after(Collectors::kForget).mono).size(), 1U);
  EXPECT_TRUE(collectors.list(after(Collectors::kForget + 1).mono).empty());
}

TEST(Collectors, NobodyIsKnownBehindAProxyWithoutAToken) {
  PageAnomalies anomalies;
  CollectorRoster roster;
  Collectors collectors({}, anomalies, roster);
  Enrolment forwarded = enrolment("http://127.0.0.1:6379", loopback());
  forwarded.forwarded = true;
  const auto refused = collectors.enrol(forwarded, kStart);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().first, EnrolRefusal::kAddress);
  EXPECT_THAT(refused.error().second, HasSubstr("through a proxy"));
  EXPECT_TRUE(collectors.list(kStart.mono).empty());
  forwarded.trusted = true;
  EXPECT_FALSE(collectors.enrol(forwarded, kStart)) << "loopback would be the proxy's";
  forwarded.url = "http://0.0.0.0:20715";
  EXPECT_FALSE(collectors.enrol(forwarded, kStart)) << "and so would the sender's address";
  forwarded.url = "http://10.0.0.5:20715";
  EXPECT_TRUE(collectors.enrol(forwarded, kStart));
}

TEST(Collectors, AddressesOfOthersNeedATokenAndUnreachableOnesAreRefused) {
  PageAnomalies anomalies;
  CollectorRoster roster;
  Collectors collectors({}, anomalies, roster);
  const auto reason_of = [&](const Enrolment& given) {
    const auto url = collectors.enrol(given, kStart);
    return url ? "" : url.error().second;
  };
  EXPECT_THAT(reason_of(enrolment("http://192.0.2.1:80")),
              HasSubstr("10.0.0.5, and not 192.0.2.1"));
  EXPECT_EQ(reason_of(enrolment("http://192.0.2.1:80", otherHost(), true)), "");
  EXPECT_THAT(reason_of(enrolment("http://127.0.0.1:20715", otherHost(), true)),
              HasSubstr("cannot reach"));
  EXPECT_EQ(reason_of(enrolment("http://127.1.2.3:20715", loopback())), "");
  EXPECT_EQ(collectors.refused()[static_cast<std::size_t>(EnrolRefusal::kAddress)], 2U);
  for (const char* url : {"http://localhost:20715", "http://10.0.0.5:0", "http://10.0.0.5:1/x",
                          "ftp://10.0.0.5:1", "10.0.0.5:1", ""}) {
    EXPECT_THAT(reason_of(enrolment(url)), HasSubstr("'url'")) << url;
  }
  for (const std::string& name : {std::string(), std::string("a\nb"), std::string(254, 'x')}) {
    Enrolment named = enrolment("http://0.0.0.0:1");
    named.name = name;
    EXPECT_THAT(reason_of(named), HasSubstr("'name'"));
  }
  EXPECT_EQ(collectors.refused()[static_cast<std::size_t>(EnrolRefusal::kMalformed)], 9U);
}

TEST(Collectors, TheirNumberIsBounded) {
  PageAnomalies anomalies;
  CollectorRoster roster;
  Collectors collectors({}, anomalies, roster);
  const auto enrol_many = [&](Nanos when) {
    std::size_t taken = 0;
    for (std::size_t port = 1; port <= Collectors::kMax + 1; ++port) {
      const auto url = "http://0.0.0.0:" + std::to_string(port);
      taken += collectors.enrol(enrolment(url), after(when)) ? 1 : 0;
    }
    return taken;
  };
  EXPECT_EQ(enrol_many(0), Collectors::kMax);
  EXPECT_EQ(collectors.refused()[static_cast<std::size_t>(EnrolRefusal::kFull)], 1U);
  const auto other = enrolment("http://0.0.0.0:99");
  EXPECT_FALSE(collectors.enrol(other, after(Collectors::kForget)));
  EXPECT_TRUE(collectors.enrol(other, after(Collectors::kForget + 1)));  // forgotten ones make room
}

CollectorRegistration told(const std::string& url, Instant when, bool trusted = false) {
  return {"dpu-2", url, trusted, when.mono};
}

TEST(Collectors, ThoseOfOtherControllersAreKnownAndNotToldOn) {
  PageAnomalies anomalies;
  CollectorRoster roster;
  Collectors collectors({}, anomalies, roster);
  ASSERT_TRUE(collectors.enrol(enrolment("http://10.0.0.5:20715"), kStart));
  const Instant now = after(3 * kSecond);
  roster.tell("b", {{told("http://10.0.0.6:20715", after(kSecond))}, false});
  collectors.takeTold(now);
  const auto list = collectors.list(now.mono);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].controller, "");
  EXPECT_EQ(list[1].controller, "b");
  EXPECT_EQ(list[1].name, "dpu-2");
  EXPECT_EQ(list[1].heard_utc, after(kSecond).utc);
  const auto own = roster.own();
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own[0].url, "http://10.0.0.5:20715");
  EXPECT_EQ(own[0].heard_mono, kStart.mono);
}

TEST(Collectors, OneThatADeadControllerToldIsGoneAndForgottenToo) {
  PageAnomalies anomalies;
  CollectorRoster roster;
  Collectors collectors({}, anomalies, roster);
  const auto alive = [&](Nanos time) {
    const auto list = collectors.list(after(time).mono);
    return list.empty() ? std::nullopt : std::optional(list[0].alive);
  };
  roster.tell("b", {{told("http://10.0.0.6:20715", kStart)}, false});
  collectors.takeTold(after(5 * kSecond));
  EXPECT_EQ(alive(Collectors::kGone), true);
  EXPECT_EQ(alive(Collectors::kGone + 1), false);
  roster.tell("b", {{told("http://10.0.0.6:20715", kStart)}, false});  // again, and no later
  collectors.takeTold(after(Collectors::kGone + 1));
  EXPECT_EQ(alive(Collectors::kGone + 1), false);
  EXPECT_EQ(alive(Collectors::kForget), false);
  EXPECT_EQ(alive(Collectors::kForget + 1), std::nullopt);
}

TEST(Collectors, TheControllerOfTheNewestRegistrationCounts) {
  PageAnomalies anomalies;
  CollectorRoster roster;
  Collectors collectors({}, anomalies, roster);
  const std::string url = "http://10.0.0.5:20715";
  const auto controller = [&](Instant now) { return collectors.list(now.mono)[0].controller; };
  ASSERT_TRUE(collectors.enrol(enrolment(url), after(10 * kSecond)));
  roster.tell("b", {{told(url, after(9 * kSecond))}, false});
  collectors.takeTold(after(11 * kSecond));
  EXPECT_EQ(controller(after(11 * kSecond)), "") << "it came from b";
  roster.tell("b", {{told(url, after(15 * kSecond))}, false});
  collectors.takeTold(after(16 * kSecond));
  EXPECT_EQ(controller(after(16 * kSecond)), "b");
  EXPECT_TRUE(roster.own().empty()) << "b tells it now";
  ASSERT_TRUE(collectors.enrol(enrolment(url), after(20 * kSecond)));
  EXPECT_EQ(controller(after(20 * kSecond)), "");
  EXPECT_EQ(roster.own().size(), 1U);
}

TEST(Collectors, WhatAnotherControllerTellsIsCheckedToo) {
  PageAnomalies anomalies;
  CollectorRoster roster;
  Collectors collectors({}, anomalies, roster);
  CollectorRegistrations list;
  for (const char* url : {"http://localhost:20715", "http://10.0.0.5:0", "http://10.0.0.5:1/x",
                          "ftp://10.0.0.5:1", "10.0.0.5:1", "", "http://0.0.0.0:1", "http://[::]:1",
                          "http://127.0.0.1:1", "http://010.0.0.5:1"}) {
    list.push_back(told(url, kStart));
  }
  roster.tell("b", {list, false});
  collectors.takeTold(kStart);
  EXPECT_TRUE(collectors.list(kStart.mono).empty());
  roster.tell("b", {list, true});  // its loopback is this one
  collectors.takeTold(kStart);
  const auto known = collectors.list(kStart.mono);
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].url, "http://127.0.0.1:1");
}

TEST(Collectors, ThoseOfAllControllersTogetherAreBounded) {
  PageAnomalies anomalies;
  CollectorRoster roster;
  Collectors collectors({}, anomalies, roster);
  CollectorRegistrations list;
  for (std::size_t port = 1; port < Collectors::kMax; ++port) {
    list.push_back(told("http://10.0.0.6:" + std::to_string(port), kStart));
  }
  roster.tell("b", {list, false});
  collectors.takeTold(kStart);
  ASSERT_TRUE(collectors.enrol(enrolment("http://10.0.0.5:1"), kStart));
  EXPECT_TRUE(collectors.enrol(enrolment("http://10.0.0.5:2"), kStart)) << "b's give way";
  roster.tell("c", {{told("http://10.0.0.7:1", kStart)}, false});
  collectors.takeTold(kStart);
  EXPECT_EQ(collectors.list(kStart.mono).size(), Collectors::kMax);
  for (std::size_t port = 3; port <= Collectors::kMax; ++port) {
    EXPECT_TRUE(collectors.enrol(enrolment("http://10.0.0.5:" + std::to_string(port)), kStart));
  }
  EXPECT_FALSE(collectors.enrol(enrolment("http://10.0.0.4:1"), kStart)) << "all are its own";
  ASSERT_TRUE(collectors.enrol(enrolment("http://10.0.0.5:1"), after(kSecond)));
  const Instant later = after(Collectors::kForget + 1);
  roster.tell("c", {{told("http://10.0.0.7:1", later)}, false});
  collectors.takeTold(later);  // forgotten ones make room
  EXPECT_EQ(collectors.list(later.mono).size(), 2U);
}

Json application(const std::string& host, int pid) {
  return {{"host", host},     {"application", "trainer"},
          {"pid", pid},       {"owner", 3},
          {"pages", 1},       {"metrics", 4},
          {"state", "fresh"}, {"anomalous", false},
          {"score", 0.5},     {"deviation", nullptr}};
}

// A collector as the controller sees it.
struct FakeCollector {
  explicit FakeCollector(Json applications_now, std::shared_ptr<http::Access> access = nullptr)
      : applications(std::move(applications_now)) {
    http::ServerOptions options;
    options.listen = {loopback(), 0};
    options.access = std::move(access);
    server = *http::Server::start(options,
                                  [this](const http::Request& request) { return answer(request); });
  }
  http::Answer answer(const http::Request& request) {
    http::Response response;
    if (request.path == "/api/v1/applications") {
      response.body = Json{{"watched", true}, {"events", 1}, {"applications", applications}}.dump();
    } else if (request.path == "/api/v1/events") {
      const Json event = {{"time", "2026-11-21T03:12:00Z"},
                          {"kind", "limit"},
                          {"began", true},
                          {"host", "gpu-1"},
                          {"application", "trainer"},
                          {"pid", 7},
                          {"owner", 3},
                          {"statistic", nullptr},
                          {"metric", "queue"},
                          {"value", 9},
                          {"limit", 4},
                          {"deviations", Json::array()}};
      response.body = Json{{"events", Json::array({event})}}.dump();
    } else {
      asked = request.query.at("agent");
      response.body = pages;
    }
    return response;
  }
  std::string url() const { return "http://" + server->address().text(); }

  const Json applications;
  std::string pages = R"({"agents":[]})";
  std::string asked;  // read once an answer has come
  std::unique_ptr<http::Server> server;
};

struct Polled : testing::Test {
  // Registers a collector and waits for its first answer.
  void enrol(const FakeCollector& fake) {
    const Instant now = Instant::now();
    ASSERT_TRUE(collectors.enrol(enrolment(fake.url(), loopback()), now));
    ASSERT_TRUE(test::eventually([&] {
      for (const auto& entry : collectors.list(now.mono)) {
        if (entry.url == fake.url()) return entry.view->answered_utc != 0;
      }
      return false;
    }));
  }
  http::Response ask(const std::string& host) {
    std::promise<http::Response> promise;
    const auto asked = collectors.ask(
        host, [&](http::Response response) { promise.set_value(std::move(response)); },
        monotonicNow());
    if (asked != Collectors::Asked::kAsked) return http::errorResponse(404, "nobody");
    return promise.get_future().get();
  }
  std::vector<std::string> pids() {
    std::vector<std::string> found;
    for (const auto* record :
         collectors.merged(&CollectorView::applications, monotonicNow()).records) {
      found.push_back(record->host + " " +
                      std::to_string(Json::parse(record->json)["pid"].get<int>()));
    }
    return found;
  }
  PageAnomalies anomalies;
  CollectorRoster roster;
  Collectors collectors{{}, anomalies, roster};
};

TEST_F(Polled, ItsApplicationsAndEventsAreKnown) {
  const FakeCollector fake(Json::array({application("gpu-1", 7), application("gpu-2", 8)}));
  enrol(fake);
  EXPECT_THAT(pids(), testing::ElementsAre("gpu-1 7", "gpu-2 8"));
  const auto merged = collectors.merged(&CollectorView::events, monotonicNow());
  ASSERT_EQ(merged.records.size(), 1U);
  EXPECT_THAT(merged.records[0]->json, HasSubstr(R"("metric":"queue")"));
}

TEST_F(Polled, SoIsOneThatAnotherControllerHasTold) {
  Json unusual = application("gpu-1", 7);
  unusual["anomalous"] = true;
  unusual["deviation"] = {{"metric", "step_seconds"}, {"part", nullptr},
                          {"statistic", "peers"},     {"score", 2.5},
                          {"value", 0.015},           {"peers", 0.01}};
  const FakeCollector fake(Json::array({unusual}));
  const Instant now = Instant::now();
  roster.tell("b", {{{"dpu-2", fake.url(), false, now.mono}}, true});
  collectors.takeTold(now);
  EXPECT_TRUE(test::eventually([&] { return !pids().empty(); }));
  EXPECT_THAT(pids(), testing::ElementsAre("gpu-1 7"));
  EXPECT_EQ(ask("gpu-1").status, 200U);
  EXPECT_EQ(anomalies.of("gpu-1", monotonicNow()).size(), 1U) << "evidence for whoever leads";
}

// The one with the token is also asked anew at once.
TEST(Collectors, TheTokenGoesOnlyToOneThatHasRegisteredWithAToken) {
  const test::TemporaryDirectory folder;
  const std::string token(64, 'a');
  for (const auto& [name, text] : {std::pair("tokens", "read " + token), {"token", token}}) {
    std::ofstream(folder / name) << text << '\n';
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_read);
  }
  const auto access = http::openAccess({folder / "tokens", {}, {}});
  ASSERT_TRUE(access) << access.error().text();
  const FakeCollector fake(Json::array({application("gpu-1", 7)}), *access);
  PageAnomalies anomalies;
  CollectorRoster roster;
  Collectors collectors({folder / "token", {}}, anomalies, roster);
  const auto view = [&] { return collectors.list(monotonicNow())[0].view; };
  const auto tell = [&](bool trusted) {
    roster.tell("b", {{{"dpu-2", fake.url(), trusted, monotonicNow()}}, true});
    collectors.takeTold(Instant::now());
  };
  tell(false);
  ASSERT_TRUE(test::eventually([&] { return !view()->problem.empty(); }));
  EXPECT_THAT(view()->problem, HasSubstr("requires a token"));
  EXPECT_EQ(view()->answered_utc, 0);
  tell(true);
  EXPECT_TRUE(test::eventually([&] { return view()->answered_utc != 0; }));
}

TEST_F(Polled, OneCollectorSpeaksForAHost) {
  const FakeCollector one(Json::array({application("gpu-1", 7), application("gpu-2", 7)}));
  const FakeCollector two(Json::array({application("gpu-2", 8), application("gpu-3", 8)}));
  enrol(one);
  enrol(two);
  const bool one_first = one.url() < two.url();
  EXPECT_THAT(pids(), testing::UnorderedElementsAre("gpu-1 7", one_first ? "gpu-2 7" : "gpu-2 8",
                                                    "gpu-3 8"));
}

TEST_F(Polled, AQuestionGoesToTheCollectorThatReadsTheHost) {
  FakeCollector fake(Json::array({application("gpu 1/é", 7)}));
  enrol(fake);
  EXPECT_EQ(ask("gpu-9").status, 404U);
  const http::Response answer = ask("gpu 1/é");
  EXPECT_EQ(answer.status, 200U);
  EXPECT_EQ(answer.body, fake.pages);
  EXPECT_EQ(fake.asked, "gpu 1/é");
}

TEST_F(Polled, AnAnswerThatIsNoDocumentIsNotPassedOn) {
  FakeCollector fake(Json::array({application("gpu-1", 7)}));
  fake.pages = "<script>";
  enrol(fake);
  EXPECT_EQ(ask("gpu-1").status, 503U);
}

TEST_F(Polled, WhatWaitsIsAnsweredAtTheEnd) {
  auto fake = std::make_unique<FakeCollector>(Json::array({application("gpu-1", 7)}));
  enrol(*fake);
  std::atomic<int> answers = 0;
  std::size_t asked = 0, busy = 0;
  fake->server.reset();  // nobody listens any more
  for (std::size_t i = 0; i < 100; ++i) {
    const auto result = collectors.ask(
        "gpu-1",
        [&](const http::Response& response) {
          EXPECT_EQ(response.status, 503U);
          ++answers;
        },
        monotonicNow());
    ++(result == Collectors::Asked::kAsked ? asked : busy);
  }
  collectors.stop();
  EXPECT_EQ(static_cast<std::size_t>(answers), asked);
  EXPECT_EQ(asked + busy, 100U);
}

}  // namespace
}  // namespace pingloom::controller::collectors_test
