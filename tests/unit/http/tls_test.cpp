#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "certificate.h"
#include "http/client.h"
#include "http/server.h"
#include "raw_client.h"

namespace pingloom::http::tls_test {
namespace {

using testing::HasSubstr;

const std::string kOperator(32, 'o');

struct TlsTest : testing::Test {
  TlsTest() : folder(testing::TempDir() + "tls-" + std::to_string(getpid())) {
    std::filesystem::create_directory(folder);
    makeCertificate(folder / "cert.pem", folder / "key.pem", "IP:127.0.0.1");
    writeSecret(folder / "tokens", "operate " + kOperator + "\n");
  }
  ~TlsTest() override { std::filesystem::remove_all(folder); }
  AccessFiles files() const { return {folder / "tokens", folder / "cert.pem", folder / "key.pem"}; }
  void start() {
    ServerOptions options;
    options.listen = *SocketAddress::parse("127.0.0.1:0");
    options.limits.idle_timeout = 2 * kSecond;
    auto opened = Access::open(files());
    ASSERT_TRUE(opened) << opened.error().text();
    access = *opened;
    options.access = access;
    counters = options.counters;
    options.needs = [](const Request& request) {
      return request.path == "/open" ? Role::kNone : usualNeeds(request);
    };
    server = *Server::start(options, [](const Request& request) {
      Response response;
      response.body = std::string(name(request.pass.role)) + std::string(300'000, 'x');
      return response;
    });
  }
  std::string url(const char* scheme = "https") const {
    return std::string(scheme) + "://" + server->address().text();
  }
  Result<ClientResponse> ask(const std::filesystem::path& ca, const std::string& token,
                             const std::string& path = "/") {
    return get({url(), token, ca}, path, kPatience);
  }
  std::uint64_t refused(Refusal reason) const {
    return counters->refused[static_cast<std::size_t>(reason)];
  }

  const std::filesystem::path folder;
  std::shared_ptr<Access> access;
  std::shared_ptr<ServerCounters> counters;
  std::unique_ptr<Server> server;
};

TEST_F(TlsTest, AnswersWhoTrustsItAndHasAToken) {
  start();
  const auto answer = ask(folder / "cert.pem", kOperator);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->status, 200U);
  EXPECT_EQ(answer->body.substr(0, 8), "operatex");
  EXPECT_EQ(answer->body.size(), 300'007U);
  EXPECT_EQ(ask(folder / "cert.pem", "")->status, 401U);
  EXPECT_EQ(ask(folder / "cert.pem", std::string(32, 'x'))->status, 401U);
  EXPECT_EQ(refused(Refusal::kNoToken), 1U);
  EXPECT_EQ(refused(Refusal::kWrongToken), 1U);
}

TEST_F(TlsTest, AWrongTokenIsWrongWhereNoneIsWanted) {
  start();
  const std::string wrong(32, 'x');
  EXPECT_EQ(ask(folder / "cert.pem", "", "/open")->status, 200U);
  EXPECT_EQ(ask(folder / "cert.pem", kOperator, "/open")->status, 200U);
  EXPECT_EQ(ask(folder / "cert.pem", wrong, "/open")->status, 401U);
  EXPECT_EQ(refused(Refusal::kWrongToken), 1U);
  unsigned status = 401;
  for (int i = 0; i < 100 && status == 401; ++i) {
    status = ask(folder / "cert.pem", wrong, "/open")->status;
  }
  EXPECT_EQ(status, 429U);
  EXPECT_EQ(refused(Refusal::kAttempts), 1U);
  EXPECT_EQ(ask(folder / "cert.pem", "", "/open")->status, 200U);
}

TEST_F(TlsTest, AClientTrustsNobodyElse) {
  start();
  const auto unknown = ask({}, kOperator);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().reason, HasSubstr("not trusted"));
  EXPECT_THAT(unknown.error().reason, HasSubstr("--ca FILE"));
  makeCertificate(folder / "cert.pem", folder / "key.pem", "DNS:other.example");
  ASSERT_TRUE(access->reload());
  const auto other = ask(folder / "cert.pem", kOperator);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().reason, HasSubstr("IP address mismatch"));
  EXPECT_EQ(counters->requests, 0U) << "no token was sent";
}

TEST_F(TlsTest, ARenewedCertificateIsTakenWithoutARestart) {
  start();
  std::filesystem::copy_file(folder / "cert.pem", folder / "old.pem");
  makeCertificate(folder / "cert.pem", folder / "key.pem", "IP:127.0.0.1");
  EXPECT_TRUE(ask(folder / "old.pem", kOperator));
  ASSERT_TRUE(access->reload());
  EXPECT_FALSE(ask(folder / "old.pem", kOperator));
  EXPECT_TRUE(ask(folder / "cert.pem", kOperator));
}

TEST_F(TlsTest, PlainHttpIsToldToEncrypt) {
  start();
  const auto answer = get(url("http"), "/", kPatience);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->status, 400U);
  EXPECT_THAT(answer->body, HasSubstr("https://"));
  EXPECT_EQ(refused(Refusal::kPlain), 1U);
  EXPECT_EQ(counters->requests, 0U);
}

TEST_F(TlsTest, ABrokenGreetingIsCountedAndNobodyElseNotices) {
  start();
  {
    RawClient broken(server->address());
    broken.send(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) +
                std::string(600, '\0'));
    (void)broken.atEnd();  // an alert or the end, when it has seen it
  }
  EXPECT_TRUE(ask(folder / "cert.pem", kOperator));
  EXPECT_EQ(refused(Refusal::kHandshake), 1U);
}

TEST_F(TlsTest, AWebServerWithoutTlsIsNamedAsOne) {
  ServerOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  const auto plain = *Server::start(options, [](const Request&) { return Response{}; });
  const auto answer = get("https://" + plain->address().text(), "/", kPatience);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().reason, HasSubstr("does not speak TLS"));
}

TEST_F(TlsTest, FilesThatAreNoneAreNamed) {
  const auto reason = [this] {
    const auto opened = Access::open(files());
    return opened ? "" : opened.error().text();
  };
  EXPECT_EQ(reason(), "");
  ::chmod((folder / "key.pem").c_str(), 0644);
  EXPECT_THAT(reason(), HasSubstr("key.pem: holds secrets"));
  ::chmod((folder / "key.pem").c_str(), 0600);
  std::filesystem::copy_file(folder / "key.pem", folder / "first.pem");
  makeCertificate(folder / "cert.pem", folder / "key.pem", "IP:127.0.0.1");
  std::filesystem::rename(folder / "first.pem", folder / "key.pem");
  EXPECT_THAT(reason(), HasSubstr("key.pem: "));
  writeSecret(folder / "key.pem", "nonsense");
  EXPECT_THAT(reason(), HasSubstr("key.pem: no private key"));
  writeSecret(folder / "cert.pem", "nonsense");
  EXPECT_THAT(reason(), HasSubstr("cert.pem: no certificate"));
  std::filesystem::remove(folder / "cert.pem");
  EXPECT_THAT(reason(), HasSubstr("cert.pem: cannot open"));
}

}  // namespace
}  // namespace pingloom::http::tls_test
