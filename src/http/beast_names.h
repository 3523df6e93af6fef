// Beast and Asio as src/http calls them. Internal to src/http.
#pragma once

#include <boost/system/error_code.hpp>

namespace boost::asio {}
namespace boost::beast {}

namespace pingloom::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

}  // namespace pingloom::http
