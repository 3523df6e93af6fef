// Runs a command as main() does and keeps what it prints.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace pingloom::cli {

struct Captured {
  int code = -1;
  std::string out;
  std::string err;
};

inline Captured capture(int (*command)(const std::vector<std::string>&),
                        const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Captured run;
  run.code = command(arguments);
  run.out = testing::internal::GetCapturedStdout();
  run.err = testing::internal::GetCapturedStderr();
  return run;
}

// A directory of its own for the files of a test.
class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "pingloom-cli-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) directory_ = pattern;
  }
  ~FilesTest() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name, const std::string& text) {
    const std::string path = directory_ / name;
    std::ofstream(path) << text;
    return path;
  }
  std::filesystem::path directory_;
};

}  // namespace pingloom::cli
