// Lines of a registry for what nobody has said: valid YAML, each commented with its reason, so that taking a
// `#` away is all there is to do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/doubts.hpp"
#include "graph/lineage/lineage.hpp"

namespace backreach {

struct Stanza {
  std::string section;  // datasets, edges, jobs, copies
  std::string entry;    // `{name: orders, partitions: day}`
  // Where the registry has an entry of that name already: `registry.yml:14`; then `entry` is what to add to
  // it.
  std::string into;
};
Stanza StanzaOf(const LineageGraph& graph, const Doubt& doubt);
// Why it matters and what speaks for the entry: "31 tables and 3 copies lie below; ...".
std::string ReasonOf(const LineageGraph& graph, const Doubt& doubt);

// "day by created_at: an ordinary run takes ...; ...".
std::string GuessText(const GrainGuess& guess);

// A registry to fill in. Entries that `existing` has already, taken or not, are left out.
struct RegistryDraft {
  std::string text;
  std::size_t entries = 0, left_out = 0;  // of those beyond `most`
};
RegistryDraft DraftRegistry(const LineageGraph& graph, const std::vector<Doubt>& doubts, std::size_t most,
                            const std::string& existing);
// The draft with every entry taken.
std::string Taken(const std::string& draft);
// The same list to read.
std::string DoubtsText(const LineageGraph& graph, const std::vector<Doubt>& doubts, std::size_t most,
                       int width);

// "registry.yml:14: nothing else knows the dataset 'order': nearest: orders"
std::string UnknownNameText(const UnknownName& name);

}  // namespace backreach
