#include "http/static_files.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "common/file.h"

namespace pingloom::http::static_files_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct StaticFilesTest : testing::Test {
  StaticFilesTest() {
    std::string pattern = (fs::temp_directory_path() / "pingloom-static-XXXXXX").string();
    root = mkdtemp(pattern.data());
    fs::create_directory(root / "site");
    fs::create_directory(root / "site/sub");
    write("site/index.html", "<p>hello");
    write("site/sub/app.js", "1;");
    write("site/notes.md", "not served");
    write("secret.txt", "secret");
    fs::create_symlink(root / "secret.txt", root / "site/link.txt");
    fs::create_directory_symlink(root, root / "site/up");
  }
  ~StaticFilesTest() override { fs::remove_all(root); }
  void write(const std::string& name, const std::string& content) const {
    ASSERT_TRUE(writeFileAtomic(root / name, content));
  }
  fs::path root;
};

TEST_F(StaticFilesTest, ServesWhatLiesBelowTheRoot) {
  const auto files = StaticFiles::load((root / "site").string());
  ASSERT_TRUE(files) << files.error().text();
  EXPECT_EQ(files->size(), 2U);
  EXPECT_EQ(files->find("/")->body, "<p>hello");
  EXPECT_EQ(files->find("/")->content_type, "text/html; charset=utf-8");
  EXPECT_TRUE(files->has("/"));
  EXPECT_EQ(files->find("/index.html")->body, "<p>hello");
  EXPECT_EQ(files->find("/sub/app.js")->content_type, "text/javascript; charset=utf-8");
}

TEST_F(StaticFilesTest, NothingElse) {
  const auto files = StaticFiles::load((root / "site").string());
  for (const char* path : {"", "/link.txt", "/up/secret.txt", "/../secret.txt", "/notes.md", "/sub",
                           "/sub/", "index.html", "//index.html"}) {
    EXPECT_FALSE(files->find(path)) << path;
    EXPECT_FALSE(files->has(path)) << path;
  }
}

TEST_F(StaticFilesTest, AFolderWithoutAPageIsAnError) {
  EXPECT_THAT(StaticFiles::load((root / "site/sub").string()).error().text(),
              HasSubstr("index.html"));
  EXPECT_FALSE(StaticFiles::load((root / "none").string()));
  EXPECT_EQ(StaticFiles::load("")->size(), 0U);
}

TEST_F(StaticFilesTest, IsBounded) {
  write("site/large.txt", std::string(StaticFiles::kMaxBytes + 1, 'x'));
  EXPECT_THAT(StaticFiles::load((root / "site").string()).error().text(), HasSubstr("larger"));
}

}  // namespace
}  // namespace pingloom::http::static_files_test
