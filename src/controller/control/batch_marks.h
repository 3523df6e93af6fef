// How far each agent's batches have come: committed, or on the way to it. Decides what a batch that
// arrives is. The control thread. Bound: one entry for each host the ledger knows.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "controller/model/batch_frame.h"
#include "wire/control_protocol.h"

namespace pingloom::controller {

class BatchMarks {
 public:
  enum class Verdict { kNew, kOnTheWay, kCommitted };

  explicit BatchMarks(const std::map<std::string, wire::BatchId>& committed);

  Verdict verdict(const std::string& host, wire::BatchId id) const;
  void submitted(const std::string& host, wire::BatchId id);
  void committed(const std::string& host, wire::BatchId id);
  // It and all that were submitted behind it: they will come again.
  void failed(const std::string& host);

  wire::BatchId committedUpTo(const std::string& host) const;

 private:
  struct Mark {
    wire::BatchId committed;
    wire::BatchId submitted;
  };
  std::map<std::string, Mark> marks_;
};

}  // namespace pingloom::controller
