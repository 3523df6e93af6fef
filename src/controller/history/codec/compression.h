// zstd with contexts that are reused for many small blobs. One thread per object.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/error.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace pingloom::controller {

class Compressor {
 public:
  Compressor();
  // The result has a checksum of its content, and is valid until the next call.
  Result<std::string_view> compress(std::string_view bytes);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::string buffer_;
};

class Decompressor {
 public:
  Decompressor();
  // Fails if more than `largest` bytes would come out. The memory of `out` is reused.
  Status decompress(std::string_view bytes, std::size_t largest, std::string& out);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

}  // namespace pingloom::controller
