#include "http/gzip.h"

#include <gmock/gmock.h>
#include <isa-l/igzip_lib.h>

#include <random>

#include "http/media_type.h"
#include "http/message.h"
#include "http/server.h"
#include "raw_client.h"

namespace pingloom::http::gzip_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string inflated(const std::string& compressed, std::size_t size) {
  const auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_GZIP;
  std::string in = compressed;
  std::string out(size + 1, '\0');
  state->next_in = reinterpret_cast<std::uint8_t*>(in.data());
  state->avail_in = static_cast<std::uint32_t>(in.size());
  state->next_out = reinterpret_cast<std::uint8_t*>(out.data());
  state->avail_out = static_cast<std::uint32_t>(out.size());
  EXPECT_EQ(isal_inflate(state.get()), ISAL_DECOMP_OK);
  EXPECT_EQ(state->block_state, ISAL_BLOCK_FINISH) << "its checksum is right, too";
  out.resize(state->total_out);
  return out;
}

std::string metrics() {
  std::string text;
  for (int i = 0; i < 1'000; ++i) {
    text += "pingloom_test_total{host=\"gpu-" + std::to_string(i) + "\"} 17\n";
  }
  return text;
}

TEST(Gzip, TextComesBack) {
  const std::string text = metrics();
  const auto compressed = gzip(text);
  ASSERT_TRUE(compressed);
  EXPECT_LT(compressed->size(), text.size() / 5);
  EXPECT_EQ(inflated(*compressed, text.size()), text);
}

TEST(Gzip, WhatDoesNotGetShorterStays) {
  std::mt19937 random(1);
  std::string noise;
  for (int i = 0; i < 10'000; ++i) noise += static_cast<char>(random() & 0xFFU);
  EXPECT_FALSE(gzip(noise));
  EXPECT_FALSE(gzip(""));
}

TEST(Gzip, ClientsSayWhetherTheyTakeIt) {
  for (const char* header :
       {"gzip", "GZIP", "deflate, gzip;q=0.5", "*", "gzip, *;q=0", "br;q=1.0, *;q=0.1"}) {
    EXPECT_TRUE(allowsGzip(header)) << header;
  }
  for (const char* header :
       {"", "identity", "gzip;q=0", "*;q=0", "gzip;q=0, *", "gzipped", ",;,"}) {
    EXPECT_FALSE(allowsGzip(header)) << header;
  }
}

TEST(Gzip, AServerCompressesLongPlainText) {
  ServerOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  const auto server = Server::start(options, [](const Request& request) {
    Response response;
    response.content_type = request.path == "/json" ? "application/json" : "text/plain";
    response.body = request.path == "/short" ? "short" : metrics();
    return response;
  });
  ASSERT_TRUE(server);
  RawClient client((*server)->address());
  const auto ask = [&](const std::string& path, bool head = false) {
    client.send((head ? "HEAD " : "GET ") + path +
                " HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n");
    return client.response(head);
  };
  const auto answer = ask("/");
  EXPECT_THAT(answer.header, HasSubstr("Content-Encoding: gzip"));
  EXPECT_THAT(answer.header, HasSubstr("Vary: Accept-Encoding"));
  EXPECT_EQ(inflated(answer.body, metrics().size()), metrics());
  EXPECT_THAT(ask("/", true).header,
              HasSubstr("Content-Length: " + std::to_string(answer.body.size())));
  EXPECT_THAT(ask("/json").header, Not(HasSubstr("Content-Encoding")));
  EXPECT_EQ(ask("/short").body, "short");
  const auto plain = client.get("/");
  EXPECT_THAT(plain.header, HasSubstr("Vary: Accept-Encoding"));
  EXPECT_THAT(plain.header, Not(HasSubstr("Content-Encoding")));
  EXPECT_EQ(plain.body, metrics());
}

}  // namespace
}  // namespace pingloom::http::gzip_test
