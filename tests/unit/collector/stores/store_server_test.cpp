#include "collector/stores/store_server.h"

#include <fstream>

#include "../../common/temporary_directory.h"
#include "net/zmq_dealer.h"
#include "store/store_view.h"
#include "translator_stub.h"
#include "unit/eventually.h"

namespace pingloom::collector::store_server_test {
namespace {

using stub::TranslatorStub;
using testing::HasSubstr;

std::vector<std::uint8_t> bytesOf(std::string_view text) { return {text.begin(), text.end()}; }

class StoreServerTest : public testing::Test {
 protected:
  void SetUp() override { start(); }

  void start(std::shared_ptr<net::PeerGate> gate = nullptr) {
    server.reset();
    std::vector<KeptStore> kept;
    for (const char* name : {"one", "two"}) {
      StoreSpec spec;
      spec.translator = name;
      spec.file = directory / (std::string(name) + ".store");
      spec.tables = {{store::TableKind::kKeyed, 1, "latest", 1000, 16}};
      if (gate != nullptr) spec.key = keys[name].public_key;
      if (gate != nullptr) spec.readers = {reader.public_key};
      auto file = store::StoreFile::open(spec.file, spec.tables, utcNow());
      ASSERT_TRUE(file) << file.error().text();
      kept.push_back({spec, std::move(*file)});
    }
    const SocketAddress listen{IpAddress::fromV4(0x7F000001), 0};
    server = std::move(*StoreServer::create({listen, std::move(gate)}, *device, std::move(kept)));
  }
  std::function<void()> work() {
    return [this] { server->work(now); };
  }
  store::ConnectReply ask(const TranslatorStub& from, const std::string& peer = "",
                          std::optional<net::CurveKey> key = std::nullopt) {
    const std::string bytes = from.request();
    return *server->answer({"route", bytes, key, peer.empty() ? from.address() : peer}, now);
  }
  std::string refusal(const store::ConnectReply& reply) {
    const auto* refused = std::get_if<store::Refused>(&reply);
    return refused == nullptr ? "connected" : refused->reason;
  }
  std::string get(const std::string& name, std::string_view key) {
    const auto view = *store::StoreView::open(directory / (name + ".store"));
    const auto value = view.get(view.head().tables[0], bytesOf(key));
    return value ? reinterpret_cast<const char*>(value->memory.data()) : "absent";
  }

  pingloom::test::TemporaryDirectory directory;
  std::map<std::string, net::CurvePair> keys = {{"one", net::CurvePair::generate()},
                                                {"two", net::CurvePair::generate()}};
  net::CurvePair reader = net::CurvePair::generate();
  std::unique_ptr<rdma::Device> device = stub::freshStoreDevice();
  std::unique_ptr<StoreServer> server;
  Nanos now = kSecond;
};

TEST_F(StoreServerTest, ATranslatorWritesItsStoreByRdma) {
  TranslatorStub translator("one");
  const auto reply = std::get<store::Connected>(ask(translator));
  EXPECT_EQ(reply.head.epoch, 1U);
  EXPECT_TRUE(server->connected("one"));
  EXPECT_FALSE(server->connected("two"));
  translator.connect(reply);
  translator.put("k", "value", utcNow());
  EXPECT_EQ(translator.flush(work()), rdma::RcStatus::kOk);
  EXPECT_EQ(get("one", "k"), "value");
  EXPECT_EQ(get("two", "k"), "absent");
}

TEST_F(StoreServerTest, ARepeatedRequestIsASignOfLifeOnly) {
  TranslatorStub translator("one");
  const auto first = std::get<store::Connected>(ask(translator));
  now += 20 * kSecond;
  const auto second = std::get<store::Connected>(ask(translator));
  EXPECT_EQ(second.endpoint, first.endpoint);
  EXPECT_EQ(second.rkey, first.rkey);
  EXPECT_EQ(second.head.epoch, 1U);
  now += 20 * kSecond;
  server->work(now);
  EXPECT_TRUE(server->connected("one"));
  now += 11 * kSecond;
  server->work(now);
  EXPECT_FALSE(server->connected("one"));
  EXPECT_EQ(server->counters().silent, 1U);
  EXPECT_EQ(server->counters().connected, 1U);
}

TEST_F(StoreServerTest, ASecondWriterEndsTheFirst) {
  TranslatorStub first("one", 1);
  const auto old = std::get<store::Connected>(ask(first));
  first.connect(old);
  TranslatorStub second("one", 2);
  const auto fresh = std::get<store::Connected>(ask(second));
  EXPECT_EQ(fresh.head.epoch, 2U);
  EXPECT_EQ(fresh.head.store, old.head.store);
  EXPECT_NE(fresh.rkey, old.rkey);
  second.connect(fresh);
  first.put("k", "late", utcNow());
  EXPECT_NE(first.flush(work()), rdma::RcStatus::kOk);
  EXPECT_EQ(get("one", "k"), "absent");
  second.put("k", "new", utcNow());
  EXPECT_EQ(second.flush(work()), rdma::RcStatus::kOk);
  EXPECT_EQ(get("one", "k"), "new");
}

TEST_F(StoreServerTest, NoStoreIsReachedFromAnothersEndpointAndNoHeadFromAny) {
  TranslatorStub one("one");
  TranslatorStub two("two");
  const auto place = std::get<store::Connected>(ask(one));
  const auto other = std::get<store::Connected>(ask(two));
  one.connect(place);
  EXPECT_EQ(one.poke(other.address, other.rkey, work()), rdma::RcStatus::kRemoteAccess);
  TranslatorStub again("one");
  const auto fresh = std::get<store::Connected>(ask(again));
  again.connect(fresh);
  EXPECT_EQ(again.poke(fresh.address - 8, fresh.rkey, work()), rdma::RcStatus::kRemoteAccess);
}

TEST_F(StoreServerTest, RefusalsAreCountedByWhatIsWrong) {
  EXPECT_THAT(refusal(ask(TranslatorStub("three"))), HasSubstr("no store is for"));
  EXPECT_THAT(refusal(ask(TranslatorStub("one"), "127.0.0.1")), HasSubstr("RDMA endpoint is at"));
  EXPECT_EQ(refusal(*server->answer({"r", "nonsense", std::nullopt, "127.0.0.1"}, now)),
            "the request is malformed");
  const StoreCounters counters = server->counters();
  EXPECT_EQ(counters.requests, 3U);
  EXPECT_EQ(counters.unknown, 1U);
  EXPECT_EQ(counters.elsewhere, 1U);
  EXPECT_EQ(counters.malformed, 1U);
  EXPECT_EQ(counters.connected, 0U);
}

TEST_F(StoreServerTest, ReadersReadBesideTheTranslatorAndChangeNothing) {
  TranslatorStub writer("one");
  const auto place = std::get<store::Connected>(ask(writer));
  writer.connect(place);
  TranslatorStub first("one", 1, store::Purpose::kRead);
  TranslatorStub second("one", 2, store::Purpose::kRead);
  for (TranslatorStub* one : {&first, &second}) {
    const auto seen = std::get<store::Connected>(ask(*one));
    EXPECT_EQ(seen.head.epoch, 1U) << "a reader begins no epoch";
    EXPECT_NE(seen.rkey, place.rkey);
    one->connect(seen);
    EXPECT_EQ(one->peek(seen.address, seen.rkey, work()), rdma::RcStatus::kOk);
  }
  EXPECT_EQ(server->counters().readers, 2U);
  const auto again = std::get<store::Connected>(ask(first));
  EXPECT_EQ(server->counters().readers, 2U) << "a sign of life";
  EXPECT_EQ(first.poke(again.address, again.rkey, work()), rdma::RcStatus::kRemoteInvalid);
  EXPECT_EQ(server->counters().readers, 1U);
  writer.put("k", "value", utcNow());
  EXPECT_EQ(writer.flush(work()), rdma::RcStatus::kOk);
  now += 31 * kSecond;
  server->work(now);
  EXPECT_EQ(server->counters().readers, 0U) << "it was silent";
}

TEST_F(StoreServerTest, SeveralTranslatorsAddToASharedStoreAndCannotOverwriteIt) {
  server.reset();
  StoreSpec spec;
  spec.translator = "votes";
  spec.file = directory / "votes.store";
  spec.tables = {{store::TableKind::kCounters, 1, "votes", 0, 0, 0, 0, 1000}};
  spec.tables.front().shared = true;
  std::vector<KeptStore> kept;
  kept.push_back({spec, std::move(*store::StoreFile::open(spec.file, spec.tables, utcNow()))});
  server = std::move(*StoreServer::create({{IpAddress::fromV4(0x7F000001), 0}, nullptr}, *device,
                                          std::move(kept)));
  std::vector<std::unique_ptr<TranslatorStub>> writers;
  for (std::size_t i = 0; i < StoreServer::kMaxWriters; ++i) {
    writers.push_back(std::make_unique<TranslatorStub>("votes", i));
    const auto place = std::get<store::Connected>(ask(*writers.back()));
    EXPECT_EQ(place.head.epoch, 1U) << "one for the collector's process";
    writers.back()->connect(place);
  }
  EXPECT_THAT(refusal(ask(TranslatorStub("votes", 1000))), HasSubstr("16 translators"));
  EXPECT_EQ(refusal(ask(*writers.front())), "connected") << "a sign of life";
  for (std::size_t i = 0; i < 2; ++i) {
    const auto place = std::get<store::Connected>(ask(*writers[i]));
    EXPECT_EQ(writers[i]->add(place.address + 4096, 5, work()), rdma::RcStatus::kOk);
    EXPECT_EQ(i == 0 ? writers[i]->poke(place.address, place.rkey, work())
                     : writers[i]->peek(place.address, place.rkey, work()),
              rdma::RcStatus::kRemoteInvalid);
  }
  std::ifstream file(spec.file, std::ios::binary);
  file.seekg(8192);
  EXPECT_EQ(file.get(), 10) << "both have added";
}

TEST_F(StoreServerTest, OnlySoManyReadAtATime) {
  std::vector<std::unique_ptr<TranslatorStub>> readers;
  for (std::size_t i = 0; i < StoreServer::kMaxReaders; ++i) {
    readers.push_back(
        std::make_unique<TranslatorStub>(i % 2 == 0 ? "one" : "two", i, store::Purpose::kRead));
    EXPECT_EQ(refusal(ask(*readers.back())), "connected");
  }
  const TranslatorStub late("one", 1000, store::Purpose::kRead);
  EXPECT_THAT(refusal(ask(late)), HasSubstr("64 readers"));
  EXPECT_EQ(server->counters().crowded, 1U);
  EXPECT_EQ(refusal(ask(*readers.front())), "connected");
}

TEST_F(StoreServerTest, AReadersKeyReadsUntilItIsTakenAway) {
  start(std::make_shared<net::PeerGate>(net::CurvePair::generate(), "test"));
  const auto names = [this](const net::CurvePair& pair) {
    const auto reply = server->answer(
        {"route", store::encodeRequest(store::ListRequest{}), pair.public_key, "127.0.0.1"}, now);
    return std::get<store::StoreNames>(*reply).translators;
  };
  const TranslatorStub one("one", 1, store::Purpose::kRead);
  EXPECT_THAT(refusal(ask(one, "", keys["one"].public_key)), HasSubstr("may not read"));
  EXPECT_EQ(refusal(ask(one, "", reader.public_key)), "connected");
  EXPECT_THAT(names(reader), testing::ElementsAre("one", "two"));
  EXPECT_THAT(names(keys["one"]), testing::IsEmpty());
  const TranslatorStub writes("one");
  EXPECT_THAT(refusal(ask(writes, "", reader.public_key)), HasSubstr("another key"));
  StoreSpecs specs;
  for (const char* name : {"one", "two"}) {
    StoreSpec spec;
    spec.translator = name;
    spec.key = keys[name].public_key;
    specs.push_back(spec);
  }
  server->permit(specs);
  EXPECT_EQ(server->counters().readers, 0U);
  EXPECT_EQ(server->counters().revoked, 1U);
  EXPECT_THAT(refusal(ask(one, "", reader.public_key)), HasSubstr("may not read"));
}

TEST_F(StoreServerTest, AKeyIsForOneStore) {
  start(std::make_shared<net::PeerGate>(net::CurvePair::generate(), "test"));
  const TranslatorStub one("one");
  EXPECT_THAT(refusal(ask(one, "", keys["two"].public_key)), HasSubstr("another key"));
  EXPECT_THAT(refusal(ask(one)), HasSubstr("another key"));
  EXPECT_EQ(refusal(ask(one, "", keys["one"].public_key)), "connected");
  EXPECT_EQ(server->counters().foreign_key, 2U);
}

TEST_F(StoreServerTest, AKeyThatIsTakenBackEndsTheConnection) {
  const auto gate = std::make_shared<net::PeerGate>(net::CurvePair::generate(), "test");
  start(gate);
  StoreSpecs specs(2);
  specs[0].translator = "one";
  specs[0].key = keys["one"].public_key;
  specs[1].translator = "two";
  specs[1].key = keys["two"].public_key;
  TranslatorStub one("one");
  TranslatorStub two("two");
  const auto place = std::get<store::Connected>(ask(one, "", keys["one"].public_key));
  one.connect(place);
  EXPECT_EQ(refusal(ask(two, "", keys["two"].public_key)), "connected");
  server->permit(specs);
  EXPECT_TRUE(server->connected("one")) << "nothing has changed";
  const auto fresh = net::CurvePair::generate().public_key;
  specs[0].key = fresh;
  server->permit(specs);
  EXPECT_FALSE(server->connected("one"));
  EXPECT_TRUE(server->connected("two"));
  one.put("k", "late", utcNow());
  EXPECT_NE(one.flush(work()), rdma::RcStatus::kOk) << "its rkey is dead";
  EXPECT_EQ(get("one", "k"), "absent");
  EXPECT_THAT(refusal(ask(one, "", keys["one"].public_key)), HasSubstr("another key"));
  EXPECT_EQ(gate->verdict(keys["one"].public_key), net::PeerRefusal::kRevoked);
  EXPECT_EQ(gate->verdict(fresh), std::nullopt);
  EXPECT_EQ(refusal(ask(TranslatorStub("one"), "", fresh)), "connected");
  EXPECT_EQ(server->counters().revoked, 1U);
}

TEST_F(StoreServerTest, AStoreThatIsNotConfiguredAnyMoreIsClosed) {
  const auto key = keys["one"].public_key;
  start(std::make_shared<net::PeerGate>(net::CurvePair::generate(), "test"));
  EXPECT_EQ(refusal(ask(TranslatorStub("one"), "", key)), "connected");
  StoreSpecs specs(1);
  specs[0].translator = "two";
  server->permit(specs);
  EXPECT_FALSE(server->connected("one"));
  EXPECT_THAT(refusal(ask(TranslatorStub("one"), "", key)), HasSubstr("no store is for"));
  const TranslatorStub two("two");
  EXPECT_EQ(refusal(ask(two, "", keys["two"].public_key)), "connected")
      << "a configuration without keys changes no key";
  specs[0].translator = "one";
  specs[0].key = key;
  server->permit(specs);
  EXPECT_FALSE(server->connected("two"));
  EXPECT_EQ(refusal(ask(TranslatorStub("one"), "", key)), "connected");
}

TEST_F(StoreServerTest, AnswersThroughItsSocket) {
  net::ZmqContext context;
  net::ZmqDealer dealer;
  ASSERT_TRUE(dealer.open(context, server->address().text()));
  TranslatorStub translator("one");  // its endpoint is elsewhere than 127.0.0.1
  const std::string request = translator.request();
  std::string back;
  bool sent = false;
  EXPECT_TRUE(pingloom::test::eventually([&] {
    sent = sent || (dealer.connected() && dealer.send("", request));
    server->work(now);
    return dealer.receive(back) == net::ZmqDealer::Received::kMessage;
  }));
  const auto reply = store::decodeReply(back);
  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_TRUE(std::get<store::Refused>(*reply).permanent);
}

TEST_F(StoreServerTest, AStoreSurvivesTheCollectorsRestart) {
  {
    TranslatorStub translator("one");
    translator.connect(std::get<store::Connected>(ask(translator)));
    translator.put("k", "value", utcNow());
    EXPECT_EQ(translator.flush(work()), rdma::RcStatus::kOk);
  }
  server.reset();
  EXPECT_EQ(get("one", "k"), "value");
  start();
  EXPECT_EQ(get("one", "k"), "value");
  TranslatorStub translator("one");
  EXPECT_EQ(std::get<store::Connected>(ask(translator)).head.epoch, 2U);
}

}  // namespace
}  // namespace pingloom::collector::store_server_test
