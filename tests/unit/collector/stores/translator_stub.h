// The RDMA side of a translator, or of a reader, for tests: a soft device with one endpoint, and a
// writer of one keyed table. The tests work both sides on one thread.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/random.h"
#include "rdma/soft/soft_device.h"
#include "store/keyed_writer.h"
#include "store/stamp.h"
#include "store/store_messages.h"

namespace pingloom::collector::stub {

inline IpAddress freshStoreAddress() {
  return IpAddress::fromV4(0x7F020000 + static_cast<std::uint32_t>(randomU64() % 0xFCFFFF));
}
inline std::unique_ptr<rdma::Device> freshStoreDevice() {
  auto opened = rdma::soft::openSoftDevice(freshStoreAddress());
  EXPECT_TRUE(opened) << opened.error().text();
  return std::move(*opened);
}

class TranslatorStub {
 public:
  explicit TranslatorStub(std::string name, std::uint64_t incarnation = 1,
                          store::Purpose purpose = store::Purpose::kWrite)
      : name_(std::move(name)), incarnation_(incarnation), purpose_(purpose) {
    domain_ = std::move(*device->createDomain());
    rdma::RcOptions options;
    options.timeout = 13;  // 34 ms
    options.retries = 2;
    endpoint_ = std::move(*domain_->createRc(options));
  }

  std::string request() const {
    return store::encodeRequest(
        store::ConnectRequest{name_, incarnation_, endpoint_->address(), purpose_});
  }
  std::string address() const { return device->info().gid.address().text(); }

  void connect(const store::Connected& to) {
    EXPECT_TRUE(endpoint_->connect(to.endpoint));
    place_ = to;
    const store::Table& table = to.head.tables.front();
    content_.assign(table.bytes, 0);
    region_ = std::move(*domain_->registerMemory(content_, rdma::Access::kNone));
    if (hasSlots(table.kind)) writer_ = std::move(*store::KeyedWriter::create(table, content_));
  }
  void put(std::string_view key, std::string_view value, Nanos utc) {
    const auto bytes = [](std::string_view text) {
      return std::vector<std::uint8_t>(text.begin(), text.end());
    };
    writer_->place(bytes(key), bytes(value), store::stampAt(utc, place_.head.made));
  }
  // Writes what has changed and returns how the last WRITE ended. `other` works the other side.
  rdma::RcStatus flush(const std::function<void()>& other) {
    writer_->takeDirty([&](std::uint64_t offset, std::span<std::uint8_t> bytes) {
      return post(rdma::RcOperation::kWrite, place_.address + offset - store::kRegionOffset,
                  place_.rkey, bytes);
    });
    return finish(other);
  }
  // Writes 8 bytes anywhere.
  rdma::RcStatus poke(std::uint64_t address, std::uint32_t rkey,
                      const std::function<void()>& other) {
    post(rdma::RcOperation::kWrite, address, rkey, std::span(content_).first(8));
    return finish(other);
  }
  // Adds to the 8 bytes there.
  rdma::RcStatus add(std::uint64_t address, std::uint64_t amount,
                     const std::function<void()>& other) {
    post(rdma::RcOperation::kFetchAdd, address, place_.rkey, std::span(content_).first(8), amount);
    return finish(other);
  }
  // Reads 8 bytes from anywhere.
  rdma::RcStatus peek(std::uint64_t address, std::uint32_t rkey,
                      const std::function<void()>& other) {
    post(rdma::RcOperation::kRead, address, rkey, std::span(content_).first(8));
    return finish(other);
  }

  std::unique_ptr<rdma::Device> device = freshStoreDevice();

 private:
  bool post(rdma::RcOperation operation, std::uint64_t address, std::uint32_t rkey,
            std::span<std::uint8_t> bytes, std::uint64_t amount = 0) {
    const rdma::LocalPiece piece{region_.get(), bytes};
    rdma::RcRequest request;
    request.operation = operation;
    request.local = {&piece, 1};
    request.remote_address = address;
    request.rkey = rkey;
    request.add_or_swap = amount;
    const bool posted = endpoint_->post(request) == rdma::PostResult::kPosted;
    posted_ += posted ? 1 : 0;
    return posted;
  }
  rdma::RcStatus finish(const std::function<void()>& other) {
    endpoint_->flush();
    rdma::RcStatus last = rdma::RcStatus::kOk;
    const Nanos end = monotonicNow() + 10 * kSecond;
    while (posted_ > 0 && monotonicNow() < end) {
      other();
      events_.clear();
      static_cast<void>(endpoint_->poll(events_));
      for (const rdma::RcDone& done : events_.done) last = done.status;
      posted_ -= events_.done.size();
    }
    EXPECT_EQ(posted_, 0U);
    return last;
  }

  const std::string name_;
  const std::uint64_t incarnation_;
  const store::Purpose purpose_;
  std::unique_ptr<rdma::Domain> domain_;
  std::vector<std::uint8_t> content_;
  std::unique_ptr<rdma::MemoryRegion> region_;
  std::unique_ptr<rdma::RcEndpoint> endpoint_;
  store::Connected place_;
  std::unique_ptr<store::KeyedWriter> writer_;
  rdma::RcEvents events_;
  std::size_t posted_ = 0;
};

}  // namespace pingloom::collector::stub
