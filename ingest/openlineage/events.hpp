// One event's JSON into a ledger: run events, dataset events and job events of OpenLineage's specification,
// and what producers in the field leave out of them or write another way.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ingest/openlineage/ledger.hpp"

namespace backreach::openlineage {

class EventReader {
 public:
  explicit EventReader(Ledger& ledger);
  ~EventReader();
  // `document` has to have 64 readable bytes behind it. Why it is no event; "" for one that was taken.
  std::string Read(std::string_view document);
  // Of documents that are JSON and no events (no job, no dataset): how many were left out.
  std::size_t left_out() const;
  // Events without a time of their own: what they show has none.
  std::size_t without_time() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace backreach::openlineage
