// Rows out of dumps, and what was compressed in them.

#include "ingest/read/sql_dump.hpp"

#include "ingest/read/inflate.hpp"
#include "support.hpp"

namespace backreach {

namespace {

// "column=value,..." of each row, then faults as "!line".
std::vector<std::string> Rows(std::string_view text) {
  std::vector<std::string> out;
  ReadDump(
      text, {"t"},
      [&](const DumpRow& row) {
        std::string line;
        for (std::size_t i = 0; i < row.columns.size(); ++i)
          line += row.columns[i] + "=" + row.values[i].value_or("NULL") + ",";
        out.push_back(line);
      },
      [&](std::size_t line, const std::string&) { out.push_back("!" + std::to_string(line)); });
  return out;
}

}  // namespace

TEST_CASE("Rows of a SQLite dump") {
  CHECK(
      Rows("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE other (t TEXT DEFAULT 'a;b');\n"
           "INSERT INTO other VALUES('insert into t values(1)');\n"
           "CREATE TABLE t (\n id CHAR(3) NOT NULL DEFAULT (1),\n \"B\" TEXT,\n CONSTRAINT k PRIMARY KEY "
           "(id, \"B\")\n);\n"
           "INSERT INTO \"t\" VALUES('it''s; \\n',X'4142');\nINSERT INTO t "
           "VALUES(NULL,-1.5),(replace('a\\nb','\\n',char(10)),'');\n"
           "INSERT INTO t VALUES(unistr('\\u00e9\\\\'),x'');\nCOMMIT;\n") ==
      std::vector<std::string>{"id=it's; \\n,b=AB,", "id=NULL,b=-1.5,", "id=a\nb,b=,", "id=\xc3\xa9\\,b=,"});
}

TEST_CASE("Rows of pg_dump, copied or inserted") {
  CHECK(Rows("--\n-- dump\n--\n\\restrict abc\nSET a = 'x';\nCREATE FUNCTION f() AS $body$ insert into t "
             "values (1); $body$;\n"
             "COPY public.t (id, b) FROM stdin;\na\\tb\\\\n\t\\N\n\t\\\\x4142\n\\.\n\nCOPY public.o (x) FROM "
             "stdin;\n'\n\\.\n"
             "INSERT INTO public.t (b, id) VALUES (E'a\\'b\\n', true);\n") ==
        std::vector<std::string>{"id=a\tb\\n,b=NULL,", "id=,b=\\x4142,", "b=a'b\n,id=true,"});
}

TEST_CASE("What is cut off or no literal is said with its line") {
  CHECK(Rows("COPY t (a, b) FROM stdin;\n1\t2\n3\n") == std::vector<std::string>{"a=1,b=2,", "!3", "!4"});
  CHECK(Rows("INSERT INTO t VALUES(1);\n") == std::vector<std::string>{"!1"});
  CHECK(Rows("INSERT INTO t (a) VALUES\n(now());\n") == std::vector<std::string>{"!1"});
  CHECK(Rows("INSERT INTO t (a, b) VALUES ('x") == std::vector<std::string>{"!1"});
}

TEST_CASE("Compressed texts are unpacked up to a bound, damaged ones refused") {
  const auto packed = FromBase64("eJxLTEpOSU1Lz8gEABGOA44=");
  REQUIRE(packed);
  CHECK(Inflate(*packed, 100) == "abcdefghi");
  CHECK(!Inflate(*packed, 3));
  CHECK(!Inflate(packed->substr(0, packed->size() - 3), 100));
  CHECK(!Inflate("", 100));
  CHECK(!FromBase64("a b"));
  CHECK(FromHex("4a4B") == "JK");
  CHECK(!FromHex("4"));
  CHECK(!FromHex("4g"));
}

}  // namespace backreach
