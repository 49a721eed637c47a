// A node of layout 4 began with a letter, its id and its type; a field was a letter and its texts. Configs
// were numbered in their order, over all blocks.

#include "graph/store/layout4.hpp"

#include "graph/selection/packed_nodes.hpp"

namespace backreach {

namespace {

void RepackConfig(std::string_view bytes, const char* complaint, NodePacker& out) {
  out.BeginConfig();
  for (ByteReader in(bytes, complaint); !in.done();) {
    const unsigned char letter = in.Byte();
    const std::string_view name = in.Text();
    if (letter == 'c')
      out.PutConfig(name, in.Text());
    else if (letter == 'C')
      out.PutConfigName(name);
    else
      in.Fail();
  }
  out.EndConfig();
}

}  // namespace

PackedNodes RepackLayout4Nodes(const std::vector<std::string>& nodes, const std::vector<std::string>& configs,
                               const char* complaint) {
  std::vector<std::string_view> known;
  for (const std::string& block : configs)
    for (ByteReader in(block, complaint); !in.done();) known.push_back(in.Text());
  NodePacker out;
  bool begun = false;
  for (const std::string& block : nodes) {
    for (ByteReader in(block, complaint); !in.done();) {
      const unsigned char letter = in.Byte();
      if (letter != 'N' && !begun) in.Fail();
      if (letter == 'r') {
        const std::uint64_t number = in.Number();
        if (number >= known.size()) in.Fail();
        RepackConfig(known[static_cast<std::size_t>(number)], complaint, out);
        continue;
      }
      const std::string_view text = in.Text();
      if (letter == 'N')
        out.Begin(text, in.Text()), begun = true;
      else if (letter == 'm')
        out.PutMore(text, in.Text());
      else
        out.Put(static_cast<NodePacker::Field>(letter), text);
    }
  }
  return out.Take();
}

}  // namespace backreach
