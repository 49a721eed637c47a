// Time travel of the platforms, and snapshots of the table formats. What cannot be typed is said.

#include "render/commands/rollback.hpp"

#include "graph/base/sql_text.hpp"
#include "graph/base/words.hpp"
#include "render/quote.hpp"

namespace backreach {

namespace {

std::string Dotted(const std::vector<std::string>& parts) { return Join(parts, "."); }

void Snapshots(const Dataset& d, const std::string& name, Rollback& out) {
  if (d.platform == "databricks" || d.platform == "spark") {
    out.position = "DESCRIBE HISTORY " + name + " LIMIT 1";
    out.back = "RESTORE TABLE " + name + " TO VERSION AS OF {position}";
    out.note = "of Delta; an Iceberg table goes back by CALL system.rollback_to_snapshot(" +
               SqlString(d.platform, Dotted(d.relation)) +
               ", {position}) with the newest snapshot_id of its table .snapshots";
  } else if (d.platform == "trino") {
    std::vector<std::string> parts = d.relation;
    parts.back() += "$snapshots";
    out.position =
        "SELECT snapshot_id FROM " + SqlName(d.platform, parts) + " ORDER BY committed_at DESC LIMIT 1";
    out.back = "ALTER TABLE " + name + " EXECUTE rollback_to_snapshot({position})";
    out.note = "of Iceberg";
  } else if (d.platform == "athena") {
    std::vector<std::string> parts = d.relation;
    parts.back() += "$snapshots";
    out.position =
        "SELECT snapshot_id FROM " + SqlName(d.platform, parts) + " ORDER BY committed_at DESC LIMIT 1";
    out.note =
        "Athena reads FOR VERSION AS OF {position} and cannot go back: write the cells anew from there";
  }
}

void TimeTravel(const Dataset& d, const std::string& name, Rollback& out) {
  if (d.platform == "snowflake") {
    out.position = "SELECT current_timestamp()";
    out.back = "CREATE OR REPLACE TABLE " + name + " CLONE " + name +
               " AT (TIMESTAMP => '{position}'::timestamp_tz)";
    out.note = "grants are those of the new table: add COPY GRANTS where they matter";
  } else if (d.platform == "bigquery") {
    out.position = "SELECT unix_millis(current_timestamp())";
    out.back = "CREATE TABLE " +
               SqlName(d.platform,
                       [&] {
                         std::vector<std::string> parts = d.relation;
                         parts.back() += "__before";
                         return parts;
                       }()) +
               " CLONE " + name + " FOR SYSTEM_TIME AS OF timestamp_millis({position})";
    out.note = "a clone beside it: a table that is replaced loses its own past";
  } else {
    Snapshots(d, name, out);
  }
}

}  // namespace

std::optional<Rollback> RollbackOf(const Dataset& d) {
  if (d.rollback.empty() || d.rollback == "none") return std::nullopt;
  Rollback out;
  out.kind = d.rollback;
  const std::string name = d.relation.empty() ? "" : SqlName(d.platform, d.relation);
  if (!name.empty()) {
    if (StartsWith(d.rollback, "time_travel"))
      TimeTravel(d, name, out);
    else
      Snapshots(d, name, out);
  }
  if (out.back.empty() && out.note.empty())
    out.note = "note where the table stands (its newest snapshot, or the time) before the step";
  return out;
}

}  // namespace backreach
