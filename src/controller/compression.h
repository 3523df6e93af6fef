// zstd with contexts that are kept, for many small blobs. One thread per object.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/error.h"

struct ZSTD_CCtx_s;

namespace pingloom::controller {

class Compressor {
 public:
  Compressor();
  // Valid until the next call.
  Result<std::string_view> compress(std::string_view bytes);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::string buffer_;
};

// At most `largest` bytes come out.
Result<std::string> decompress(std::string_view bytes, std::size_t largest);

}  // namespace pingloom::controller
