// A connection that carries requests. Internal to src/http. The HTTP thread.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <optional>
#include <string>

#include "http/byte_stream.h"
#include "http/connection.h"
#include "http/request_check.h"

namespace pingloom::http {

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(ByteStream stream, std::shared_ptr<Service> service,
                 std::unique_ptr<ConnectionSlot> slot);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // Answers every request with this refusal. `received` has the bytes read so far.
  void refuseAll(Refusal reason, const beast::flat_buffer& received);
  void readNext();

 private:
  // How a request asks to be answered.
  struct Manner {
    unsigned version = 11;
    bool keep_alive = false;
    bool head = false;
    bool gzip = false;
  };

  void limitTime();
  void readDone(error_code error);
  // Refuses a request before it reaches a handler, then ends the connection.
  void refuse(unsigned status, std::string_view reason);
  void dispatch();
  Answer handle(const Request& request);
  void upgrade(const BeastRequest& request, const Request& checked);
  void answer(Response&& response, const Manner& manner);
  // These are in http_connection_stream.cpp.
  void answerByPieces(Response&& response, const Manner& manner);
  void askForPiece();
  void sendPiece(std::optional<std::string> piece);
  void write(std::string bytes);
  void answerTaken();
  void linger();
  void lingerBelow();
  void discard();

  std::shared_ptr<Service> service_;
  std::unique_ptr<ConnectionSlot> slot_;
  ByteStream stream_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  std::optional<beast::http::response<beast::http::string_body>> response_;
  std::size_t unsent_ = 0;
  // These belong to an answer that is sent by pieces.
  std::shared_ptr<BodyStream> pieces_;  // nullptr: the last piece has been made
  std::string piece_;                   // being written
  Manner pieces_manner_;
  std::optional<Refusal> refuse_all_;
};

}  // namespace pingloom::http
