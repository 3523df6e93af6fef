// The alerts against a real Alertmanager (the Debian package prometheus-alertmanager).
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "controller/alerts/alerts.h"
#include "http/client.h"
#include "unit/controller/alerts/support.h"

namespace pingloom::controller::alertmanager_test {
namespace {

using test::eventually;
using test::incidentOf;
using test::verdictOf;
using testing::ElementsAre;
using Json = nlohmann::ordered_json;

class Alertmanager {
 public:
  explicit Alertmanager(const std::filesystem::path& folder) {
    const auto config = folder / "alertmanager.yml";
    std::ofstream(config) << "route: { receiver: none }\nreceivers: [{ name: none }]\n";
    const std::string listen = "127.0.0.1:" + std::to_string(freePort());
    url_ = "http://" + listen;
    std::vector<std::string> words = {"prometheus-alertmanager",
                                      "--config.file=" + config.native(),
                                      "--storage.path=" + (folder / "data").native(),
                                      "--web.listen-address=" + listen,
                                      "--cluster.listen-address=",
                                      "--log.level=error"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      execvp(arguments[0], arguments.data());
      _exit(127);
    }
  }
  ~Alertmanager() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  const std::string& url() const { return url_; }
  bool ready() const {
    const auto answer = http::get(url_, "/-/ready", kSecond);
    return answer && answer->status == 200;
  }
  // Returns the alerts that fire: "incident severity", ordered.
  std::vector<std::string> firing() const {
    std::vector<std::string> made;
    for (const Json& alert : all()) {
      made.push_back(alert["labels"]["incident"].get<std::string>() + " " +
                     alert["labels"]["severity"].get<std::string>());
    }
    std::sort(made.begin(), made.end());
    return made;
  }
  Json all() const {
    const auto answer = http::get(url_, "/api/v2/alerts", 5 * kSecond);
    return answer ? Json::parse(answer->body) : Json::array();
  }

 private:
  static std::uint16_t freePort() {
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length);
    return ntohs(address.sin_port);
  }

  std::string url_;
  pid_t pid_ = -1;
};

TEST(AlertsWithAlertmanager, AnIncidentFiresChangesAndEnds) {
  const test::TemporaryDirectory folder;
  const Alertmanager alertmanager(folder.path());
  ASSERT_TRUE(eventually([&] { return alertmanager.ready(); }))
      << "is prometheus-alertmanager installed?";
  Board board;
  auto alerts = Alerts::start({test::targetOf(AlertKind::kAlertmanager, {alertmanager.url()})},
                              folder.path() / "alerts", board);
  ASSERT_TRUE(alerts) << alerts.error().text();
  Incident incident = incidentOf(17, Severity::kSlow);
  incident.opened_utc = utcNow() - 10 * kSecond;
  board.publishVerdict(verdictOf({incident}));
  ASSERT_TRUE(eventually([&] { return alertmanager.firing().size() == 1; }));
  const Json alert = alertmanager.all()[0];
  EXPECT_EQ(alert["labels"]["alertname"], "PingloomIncident");
  EXPECT_EQ(alert["labels"]["label_data_center"], "x");
  EXPECT_EQ(alert["annotations"]["summary"], incident.sentence);
  EXPECT_EQ(alert["status"]["state"], "active");
  incident.severity = Severity::kDown;
  board.publishVerdict(verdictOf({incident}));
  EXPECT_TRUE(eventually([&] {
    return alertmanager.firing() == std::vector<std::string>{"17 down"};
  })) << "the alert of the severity before has ended";
  incident.closed_utc = utcNow();
  board.publishVerdict(verdictOf({}, {incident}));
  EXPECT_TRUE(eventually([&] { return alertmanager.firing().empty(); }));
  EXPECT_EQ(board.alerts()->at(0).dropped, 0U);
  EXPECT_EQ(board.alerts()->at(0).failed, 0U);
}

}  // namespace
}  // namespace pingloom::controller::alertmanager_test
