// Tracks for each agent which batches are committed or submitted, and classifies an arriving batch.
// The control thread. Bound: one entry for each host in the ledger.
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
  // Forgets the failed batch and all later ones, which will arrive again.
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
