// The code of one model, read out of the manifest once more when it is needed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace backreach {

// A model's code as the manifest has it.
struct DbtCode {
  std::string raw, compiled;
  std::string path, compiled_path;
  bool python = false;
};

class DbtCodeLoader {
 public:
  DbtCodeLoader();
  ~DbtCodeLoader();
  // `member`: the JSON of a node inside a mapped manifest, whose pages are given back afterwards. It was read
  // before: where it cannot be any more, the file has changed, and its reader says so.
  DbtCode Load(std::string_view member);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace backreach
