// zstd with contexts that are kept, for many small blobs. One thread per object.
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
  // With a checksum of its content. Valid until the next call.
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
  // At most `largest` bytes come out; `out` keeps its memory.
  Status decompress(std::string_view bytes, std::size_t largest, std::string& out);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

}  // namespace pingloom::controller
