// Dagster takes a backfill and comes back: what follows would read what is not written yet. So the call is
// followed by asking for the backfill's state until that is final.

#include "render/engines/feed.hpp"

namespace backreach {

std::string WithDagsterWait(const std::string& line) {
  return "export BACKREACH_ANSWER=$(mktemp) && " + line +
         R"sh( && ( id=$(sed -n 's/.*"backfillId" *: *"\([^"]*\)".*/\1/p' "$BACKREACH_ANSWER") && while true; do)sh"
         R"sh( state=$(curl -sS "${DAGSTER_URL:-http://localhost:3000}/graphql" -H 'content-type: application/json')sh"
         R"sh( -d "{\"query\": \"query { partitionBackfillOrError(backfillId: \\\"$id\\\") { ... on PartitionBackfill)sh"
         R"sh( { status } } }\"}" | sed -n 's/.*"status" *: *"\([A-Z_]*\)".*/\1/p');)sh"
         R"sh( case $state in COMPLETED_SUCCESS|COMPLETED) exit 0 ;; REQUESTED|COMPLETING) sleep "${BACKREACH_POLL:-20}" ;;)sh"
         R"sh( *) echo "backfill $id: ${state:-no state}" >&2; exit 1 ;; esac; done ))sh";
}

}  // namespace backreach
