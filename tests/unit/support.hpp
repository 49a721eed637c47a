// What the unit tests share: a folder that is gone afterwards, importers by name.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "ingest/importer.hpp"

namespace backreach {

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("backreach-unit-" + std::to_string(std::rand()) +
               std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string Write(const std::string& name, const std::string& text) const {
    const auto file = path_ / name;
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

inline const Importer& Named(const std::string& name) {
  for (const Importer& i : Importers())
    if (name == i.name) return i;
  throw std::runtime_error("no importer " + name);
}

}  // namespace backreach
