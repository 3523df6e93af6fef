// Which paths of the collector's HTTP server are open, and who answers them.
#include "collector/http_router.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "common/file.h"

namespace pingloom::collector::http_router_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class HttpRouterTest : public testing::Test {
 protected:
  HttpRouterTest() {
    std::string pattern = (fs::temp_directory_path() / "pingloom-router-XXXXXX").string();
    root = mkdtemp(pattern.data());
    EXPECT_TRUE(writeFileAtomic(root / "index.html", "<p>stores"));
    EXPECT_TRUE(writeFileAtomic(root / "app.js", "1;"));
    EXPECT_TRUE(writeFileAtomic(root / "healthz.txt", "not the page's business"));
  }
  ~HttpRouterTest() override { fs::remove_all(root); }

  HttpRouter router(const std::string& page) const {
    return {{board, nullptr, nullptr, nullptr, nullptr, counters}, *http::StaticFiles::load(page)};
  }
  static http::Request request(const std::string& path, const std::string& method = "GET") {
    http::Request request;
    request.method = method;
    request.path = path;
    return request;
  }
  static http::Response answer(const HttpRouter& router, const http::Request& request) {
    return std::get<http::Response>(router.answer(request));
  }

  fs::path root;
  Board board;
  std::shared_ptr<http::ServerCounters> counters = std::make_shared<http::ServerCounters>();
};

TEST_F(HttpRouterTest, ThePageIsOpenAndWhatItShowsIsNot) {
  const HttpRouter with_page = router(root);
  for (const char* path : {"/", "/index.html", "/app.js", "/healthz", "/api/v1/session"}) {
    EXPECT_EQ(with_page.needs(request(path)), http::Role::kNone) << path;
  }
  for (const char* path : {"/metrics", "/api/v1/pages", "/api/v1/dta/tables", "/api/v1/dta/tail",
                           "/nothing", "/app.js/", "/index.htm"}) {
    EXPECT_EQ(with_page.needs(request(path)), http::Role::kRead) << path;
  }
  EXPECT_EQ(with_page.needs(request("/", "POST")), http::Role::kOperate);
  EXPECT_EQ(with_page.needs(request("/api/v1/session", "POST")), http::Role::kNone);
}

TEST_F(HttpRouterTest, EachPathHasItsAnswer) {
  const HttpRouter with_page = router(root);
  EXPECT_EQ(answer(with_page, request("/")).body, "<p>stores");
  EXPECT_EQ(answer(with_page, request("/app.js")).body, "1;");
  EXPECT_EQ(answer(with_page, request("/", "POST")).status, 405U);
  EXPECT_THAT(answer(with_page, request("/healthz")).body, HasSubstr("agents"));
  EXPECT_THAT(answer(with_page, request("/api/v1/session")).body, HasSubstr(R"("tokens":false)"));
  EXPECT_EQ(answer(with_page, request("/api/v1/session", "PUT")).status, 405U);
  EXPECT_THAT(answer(with_page, request("/api/v1/dta/tables")).body, HasSubstr("no stores"));
}

TEST_F(HttpRouterTest, WithoutThePageThereIsTheApi) {
  const HttpRouter bare = router("");
  EXPECT_EQ(bare.needs(request("/")), http::Role::kRead);
  EXPECT_EQ(answer(bare, request("/")).status, 404U);
  EXPECT_EQ(answer(bare, request("/healthz")).status, 200U);
}

}  // namespace
}  // namespace pingloom::collector::http_router_test
