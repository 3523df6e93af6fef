// The translator: its thread and HTTP. start(), run() and the destructor belong to one thread.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/service_manager.h"
#include "http/server.h"
#include "translator/config.h"
#include "translator/ingest_group.h"

namespace pingloom::translator {

class Translator {
 public:
  // REQUIRES: the keys are loaded.
  static Result<std::unique_ptr<Translator>> start(const Config& config);
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;
  // Runs until it is asked to stop or to reload. The translator is ready from the start.
  ServiceManager::Asked run(ServiceManager& manager);
  // REQUIRES: the reporters' keys are loaded.
  void reload(const Config& config);
  static constexpr std::array<std::string_view, 3> kReloadable = {"reporters", "log_level", "log"};
  std::string url() const;

 private:
  Translator() = default;
  std::unique_ptr<IngestGroup> threads_;
  std::shared_ptr<http::Access> access_;  // nullptr if not configured
  std::unique_ptr<http::Server> http_;    // destroyed before what it renders
};

}  // namespace pingloom::translator
