// SQLite's file as a store: who may open it, what is refused, and SQLite's errors in our words.
#pragma once

#include <memory>
#include <string>

#include "graph/store/database/database.hpp"

namespace backreach {

// Why the system lets nobody use the file: a folder, rights; empty if it does. `writing`: for what has to be
// written too.
std::string WhyUnusable(const std::string& path, bool writing);

namespace sqlite {

// Neither creates nor changes the file.
std::unique_ptr<Database> ForReading(const std::string& path);
// Creates the file where there is none; it may be of an older layout (migrations.hpp).
std::unique_ptr<Database> ForWriting(const std::string& path);
// An empty file `beside` the place `path`, that nobody else knows of: without journal.
std::unique_ptr<Database> ForNewFile(const std::string& path, const std::string& beside);
// Of a file that is whole: how all who come later read beside a writer.
void UseLog(Database& db);

}  // namespace sqlite

}  // namespace backreach
