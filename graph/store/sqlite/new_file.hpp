// A store that is not there yet is written beside its place, under a name that nobody else can have, and is
// linked to its place when it is whole.
#pragma once

#include <string>
#include <vector>

namespace backreach {

class NewFile {
 public:
  // Makes an empty file beside `path`; name() is empty if that cannot be done.
  explicit NewFile(const std::string& path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();  // takes the file beside away

  const std::string& name() const { return name_; }
  // Makes the file safe on the disk and links it, itself and not what may have its name by now, to the place.
  // False if somebody else put a store there meanwhile, or the file system cannot link.
  bool LinkTo(const std::string& path);

 private:
  std::string name_;
  int fd_ = -1;
};

// What ingests that were killed left beside a store, and what those that still run are writing.
struct Leftovers {
  std::vector<std::string> dead, alive;
};
Leftovers FindLeftovers(const std::string& path);
// Takes away what nobody is writing any more.
void RemoveLeftovers(const std::string& path);

}  // namespace backreach
