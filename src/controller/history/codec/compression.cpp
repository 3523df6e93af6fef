#include "controller/history/codec/compression.h"

#include <zstd.h>

namespace pingloom::controller {
namespace {

constexpr int kLevel = 1;
// The input is columns of small numbers instead of text. Short matches in them are accidental and
// cost more time than they save bytes; without them the output is smaller and decompresses faster.
constexpr int kStrategy = ZSTD_dfast;
constexpr int kMinMatch = 7;

}  // namespace

void Compressor::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

Compressor::Compressor() : context_(ZSTD_createCCtx()) {
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_strategy, kStrategy);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_minMatch, kMinMatch);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
}

Result<std::string_view> Compressor::compress(std::string_view bytes) {
  const std::size_t room = ZSTD_compressBound(bytes.size());
  if (buffer_.size() < room) buffer_.resize(room);
  const std::size_t size =
      ZSTD_compress2(context_.get(), buffer_.data(), buffer_.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) return makeError("zstd", ZSTD_getErrorName(size));
  return std::string_view(buffer_).substr(0, size);
}

void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {}

Status Decompressor::decompress(std::string_view bytes, std::size_t largest, std::string& out) {
  out.clear();
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > largest) {
    return makeError("zstd", "the blob's size is unknown or out of range");
  }
  out.resize(size);
  const std::size_t got =
      ZSTD_decompressDCtx(context_.get(), out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0) return makeError("zstd", ZSTD_getErrorName(got));
  if (got != size)
    return makeError("zstd", "the blob's length differs from the length in its header");
  return {};
}

}  // namespace pingloom::controller
