#include "store/remote_reads.h"

#include <fcntl.h>

#include "../../common/temporary_directory.h"
#include "collector/stores/store_service.h"
#include "common/fd.h"
#include "store/keyed_writer.h"
#include "store/store_view.h"
#include "store/writer_status.h"
#include "translator_stub.h"
#include "unit/eventually.h"

namespace pingloom::collector::remote_reads_test {
namespace {

using testing::HasSubstr;

std::vector<std::uint8_t> bytesOf(std::string_view text) { return {text.begin(), text.end()}; }

// A collector's stores, and a host that reads them.
class RemoteReadsTest : public testing::Test {
 protected:
  void SetUp() override {
    StoreSpec spec;
    spec.translator = "rack-7";
    spec.file = directory / "rack-7.store";
    spec.tables = {{store::TableKind::kKeyed, 1, "latest", 1000, 16},
                   {store::TableKind::kCounters, 2, "votes", 0, 0, 0, 0, 1000},
                   {store::TableKind::kLists, 3, "events", 0, 16, 2, 8}};
    auto started = StoreService::start({spec}, {IpAddress::fromV4(0x7F000001), 0},
                                       stub::freshStoreDevice(), std::nullopt);
    ASSERT_TRUE(started) << started.error().text();
    service = std::move(*started);
    const UniqueFd fd(::open(spec.file.c_str(), O_RDWR | O_CLOEXEC));
    local = std::move(*store::StoreView::open(spec.file));
    mapped = *store::Mapping::of(fd.get(), local->head().bytes, store::MapFor::kWriting, "test");
  }
  std::shared_ptr<store::StoreClient> client() {
    auto made = std::make_shared<store::StoreClient>();
    EXPECT_TRUE(made->open({service->address().text(), device->info().gid.address(), {}}));
    return made;
  }
  store::StoreView remoteView() {
    auto reads = store::RemoteReads::open(client(), *device, "rack-7");
    EXPECT_TRUE(reads) << reads.error().text();
    const store::Head head = (*reads)->head();
    return store::StoreView::over(std::move(*reads), head, "rack-7");
  }
  std::span<std::uint8_t> contentOf(const store::Table& table) {
    return mapped.memory().subspan(table.offset, table.bytes);
  }

  pingloom::test::TemporaryDirectory directory;
  std::unique_ptr<rdma::Device> device = stub::freshStoreDevice();
  std::unique_ptr<StoreService> service;
  std::optional<store::StoreView> local;
  store::Mapping mapped;
};

TEST_F(RemoteReadsTest, AnswersAreThoseOfTheFile) {
  const store::StoreView remote = remoteView();
  EXPECT_EQ(remote.head(), local->head());
  const store::Table& latest = *remote.findTable("latest");
  const auto keyed = *store::KeyedWriter::create(latest, contentOf(latest));
  keyed->place(bytesOf("k"), bytesOf("value"), 5);
  const auto value = remote.get(latest, bytesOf("k"));
  ASSERT_TRUE(value);
  EXPECT_STREQ(reinterpret_cast<const char*>(value->memory.data()), "value");
  EXPECT_EQ(value->stamp, 5U);
  EXPECT_FALSE(remote.get(latest, bytesOf("other")));
  const store::Table& votes = *remote.findTable("votes");
  const auto counters = *store::CounterWriter::create(votes, contentOf(votes));
  counters->add(bytesOf("link"), 41);
  counters->takeDirty([](std::uint64_t, std::span<const std::uint8_t>) { return true; });
  EXPECT_EQ(remote.count(votes, bytesOf("link")), 41U);
  EXPECT_FALSE(remote.status()) << "no writer has written";
  store::WriterStatus status;
  status.beat = 7;
  std::ranges::copy(store::encodeStatus(status), mapped.memory().begin() + store::kStatusOffset);
  ASSERT_TRUE(remote.status());
  EXPECT_EQ(remote.status()->beat, 7U);
  const store::Table& events = *remote.findTable("events");
  EXPECT_EQ(remote.tail(events, 1, {}, 10, [](auto) {}).entries, 0U);
  EXPECT_TRUE(remote.reachable());
}

TEST_F(RemoteReadsTest, StoresAreListedAndUnknownOnesRefused) {
  const auto names = client()->list();
  ASSERT_TRUE(names) << names.error().text();
  EXPECT_THAT(*names, testing::ElementsAre("rack-7"));
  const auto reads = store::RemoteReads::open(client(), *device, "rack-8");
  ASSERT_FALSE(reads);
  EXPECT_THAT(reads.error().text(), HasSubstr("no store is for a translator 'rack-8'"));
}

TEST_F(RemoteReadsTest, AReaderThatIsDoneMakesRoom) {
  const auto readers = [this] { return service->counters().readers; };
  {
    const store::StoreView remote = remoteView();
    EXPECT_TRUE(pingloom::test::eventually([&] { return readers() == 1; }));
  }
  EXPECT_TRUE(pingloom::test::eventually([&] { return readers() == 0; }));
  EXPECT_EQ(service->counters().silent, 0U);
}

TEST_F(RemoteReadsTest, ACollectorThatEndsIsSaidNotReadAsZeros) {
  const store::StoreView remote = remoteView();
  const store::Table& latest = *remote.findTable("latest");
  EXPECT_FALSE(remote.get(latest, bytesOf("k")));
  EXPECT_TRUE(remote.reachable());
  service.reset();
  EXPECT_FALSE(remote.get(latest, bytesOf("k")));
  ASSERT_FALSE(remote.reachable());
  EXPECT_FALSE(remote.status());
}

}  // namespace
}  // namespace pingloom::collector::remote_reads_test
