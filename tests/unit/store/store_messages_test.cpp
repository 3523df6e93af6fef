#include "store/store_messages.h"

#include "store_support.h"

namespace pingloom::store::store_messages_test {
namespace {

rdma::RcAddress endpoint() {
  rdma::RcAddress address;
  address.gid.bytes[15] = 7;
  address.qpn = 5;
  address.psn = 0xabcdef;
  address.mtu = 1024;
  address.reads = 16;
  return address;
}

Connected connected() {
  auto head = *layOut({test::keyedSpec("latest", 1, 1000, 24)}, 77);
  head.epoch = 4;
  return {endpoint(), ~std::uint64_t{0} - 5, 0xdeadbeef, head};
}

TEST(StoreMessages, ARequestComesBackAsItWas) {
  const ConnectRequest request{"rack-7", 1234567, endpoint()};
  const auto again = decodeRequest(encodeRequest(request));
  ASSERT_TRUE(again);
  EXPECT_EQ(std::get<ConnectRequest>(*again), request);
  const ConnectRequest reads{"rack-7", 1234567, endpoint(), Purpose::kRead};
  EXPECT_EQ(std::get<ConnectRequest>(*decodeRequest(encodeRequest(reads))), reads);
  EXPECT_EQ(std::get<LeaveRequest>(*decodeRequest(encodeRequest(LeaveRequest{reads}))).began,
            reads);
  EXPECT_TRUE(std::holds_alternative<Left>(*decodeReply(encodeReply(Left{}))));
  EXPECT_TRUE(std::holds_alternative<ListRequest>(*decodeRequest(encodeRequest(ListRequest{}))));
}

TEST(StoreMessages, NamesComeBackAsTheyWere) {
  const auto names = decodeReply(encodeReply(StoreNames{{"rack-7", "rack-8"}}));
  ASSERT_TRUE(names) << names.error().text();
  EXPECT_THAT(std::get<StoreNames>(*names).translators, testing::ElementsAre("rack-7", "rack-8"));
  EXPECT_FALSE(decodeReply(encodeReply(StoreNames{{"two words"}})));
  EXPECT_FALSE(decodeReply(encodeReply(StoreNames{std::vector<std::string>(65, "a")})));
}

TEST(StoreMessages, AnswersComeBackAsTheyWere) {
  const auto again = decodeReply(encodeReply(connected()));
  ASSERT_TRUE(again) << again.error().text();
  const auto& got = std::get<Connected>(*again);
  EXPECT_EQ(got.endpoint, endpoint());
  EXPECT_EQ(got.address, connected().address);
  EXPECT_EQ(got.rkey, 0xdeadbeefU);
  EXPECT_EQ(got.head.epoch, 4U);
  EXPECT_EQ(got.head.tables[0].name, "latest");
  const auto no = decodeReply(encodeReply(Refused{"for a\nreason", true}));
  EXPECT_EQ(std::get<Refused>(*no).reason, "for a reason");
  EXPECT_TRUE(std::get<Refused>(*no).permanent);
}

TEST(StoreMessages, MalformedRequestsAreRefused) {
  EXPECT_EQ(decodeRequest("").error(), BadRequest::kMalformed);
  EXPECT_EQ(decodeRequest("nonsense").error(), BadRequest::kMalformed);
  EXPECT_EQ(decodeRequest(std::string(2000, 'x')).error(), BadRequest::kMalformed);
  EXPECT_EQ(decodeRequest(encodeRequest(ConnectRequest{"two words", 1, endpoint()})).error(),
            BadRequest::kMalformed);
  EXPECT_EQ(decodeRequest(encodeRequest(ConnectRequest{"a", 1, {}})).error(),
            BadRequest::kMalformed);
  std::string other = encodeRequest(ConnectRequest{"a", 1, endpoint()});
  other[1] = 2;  // the version's value
  EXPECT_EQ(decodeRequest(other).error(), BadRequest::kVersion);
}

TEST(StoreMessages, AnAnswerWithAWrongHeadIsRefused) {
  EXPECT_FALSE(decodeReply(""));
  EXPECT_FALSE(decodeReply("nonsense"));
  std::string spoilt = encodeReply(connected());
  const auto head = spoilt.find("PLST");
  ASSERT_NE(head, std::string::npos);
  spoilt[head + 200] ^= 1;
  EXPECT_FALSE(decodeReply(spoilt));
  EXPECT_FALSE(decodeReply(encodeReply(connected()).substr(0, head + 100)));
}

// Whatever arrives, decoding ends without a fault, and what it accepts is within its bounds.
TEST(StoreMessages, RandomChangesAreDecodedOrRefused) {
  std::mt19937 random(5);
  for (int i = 0; i < 3000; ++i) {
    std::string request = encodeRequest(ConnectRequest{"rack-7", 1234567, endpoint()});
    std::string reply = encodeReply(connected());
    request[random() % request.size()] = static_cast<char>(random());
    reply[random() % reply.size()] = static_cast<char>(random());
    const auto asked = decodeRequest(request);
    const auto* connects = asked ? std::get_if<ConnectRequest>(&*asked) : nullptr;
    EXPECT_TRUE(connects == nullptr || isName(connects->translator));
    const auto answered = decodeReply(reply);
    const auto* made = answered ? std::get_if<Connected>(&*answered) : nullptr;
    EXPECT_TRUE(made == nullptr || checkHead(made->head));
  }
}

}  // namespace
}  // namespace pingloom::store::store_messages_test
