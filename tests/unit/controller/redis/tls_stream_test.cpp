// TLS to a server that is a thread of the test.
#include "controller/redis/tls_stream.h"

#include <gmock/gmock.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <thread>

#include "common/fd.h"
#include "unit/common/temporary_directory.h"
#include "unit/http/certificate.h"

namespace pingloom::controller::tls_stream_test {
namespace {

using testing::HasSubstr;

// Accepts one client, whose certificate it wants, and closes the connection.
void acceptOnce(UniqueFd socket, const std::filesystem::path& folder) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                  SSL_CTX_free);
  SSL_CTX_use_certificate_chain_file(context.get(), (folder / "cert.pem").c_str());
  SSL_CTX_use_PrivateKey_file(context.get(), (folder / "key.pem").c_str(), SSL_FILETYPE_PEM);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), SSL_free);
  SSL_set_fd(tls.get(), socket.get());
  EXPECT_LE(SSL_accept(tls.get()), 0);
}

TEST(RedisTlsStream, TheServersAlertIsTheReasonWhyNothingCanBeSent) {
  std::signal(SIGPIPE, SIG_IGN);
  const test::TemporaryDirectory folder;
  http::makeCertificate(folder.path() / "cert.pem", folder.path() / "key.pem", "IP:127.0.0.1");
  std::array<int, 2> sockets{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()), 0);
  const UniqueFd client(sockets[0]);
  std::thread server(acceptOnce, UniqueFd(sockets[1]), folder.path());
  RedisTls files;
  files.ca = folder.path() / "cert.pem";
  auto stream = RedisTlsStream::open(client.get(), files, "127.0.0.1", "redis");
  server.join();
  ASSERT_TRUE(stream) << stream.error().text();  // with TLS 1.3 the client learns it later
  const auto sent = (*stream)->send("PING\r\n");
  ASSERT_FALSE(sent);
  EXPECT_THAT(sent.error().text(), HasSubstr("certificate required"));
}

}  // namespace
}  // namespace pingloom::controller::tls_stream_test
