// dbt's selection grammar.

#include <doctest/doctest.h>

#include "graph/base/error.hpp"
#include "graph/base/words.hpp"
#include "graph/selection/selector.hpp"

using namespace backreach;

namespace {

NodeFact Node(const std::string& name, std::vector<std::string> parents = {},
              std::vector<std::string> folder = {}, const std::string& type = "model") {
  NodeFact n;
  n.id = type + ".shop." + name;
  n.type = type;
  n.name = name;
  n.package = "shop";
  n.path = "models/" + Join(folder, "/") + (folder.empty() ? "" : "/") + name + ".sql";
  n.fqn = {"shop"};
  n.fqn.insert(n.fqn.end(), folder.begin(), folder.end());
  n.fqn.push_back(name);
  for (const std::string& parent : parents) n.parents.push_back("model.shop." + parent);
  n.more["body"] = name;
  return n;
}

// a -> b -> d, c -> d -> e; a and b are staging.
struct Shop {
  std::vector<NodeFact> facts = {Node("a", {}, {"staging"}), Node("b", {"a"}, {"staging"}), Node("c"),
                                 Node("d", {"b", "c"}, {"marts", "core"}), Node("e", {"d"}, {"marts"})};
  std::vector<NodeFact> old;
  std::map<std::string, std::string> results;

  std::string Chosen(std::vector<std::string> select, std::vector<std::string> exclude = {},
                     std::vector<std::string> types = {}, std::vector<std::string> not_types = {}) const {
    SelectorInput input;
    for (const NodeFact& n : facts) input.nodes.push_back(&n);
    for (const NodeFact& n : old) input.state.push_back(&n);
    input.has_state = !old.empty();
    if (!results.empty()) input.results = &results;
    std::string out;
    for (const std::string& id : Select(input, {select, exclude, types, not_types}).ids)
      out += id.substr(id.rfind('.') + 1);
    return out;
  }
};

}  // namespace

TEST_CASE("named selectors are unions, intersections and differences of criteria and of each other") {
  Shop shop;
  const auto define = [&](const std::string& name, std::vector<std::string> definition) {
    NodeFact n;
    n.id = "selector." + name, n.type = "selector", n.name = name, n.tags = std::move(definition);
    shop.facts.push_back(n);
  };
  define("all_but", {"=fqn:*", "|1", "=fqn:d+", "=fqn:a", "|2", "-"});
  define("both", {"=+fqn:d", "=path:models/staging", "&2"});
  define("again", {"$both", "=fqn:e", "|2"});
  define("none", {"|0"});
  define("circle", {"$circle"});
  define("odd", {"=fqn:a", "?"});
  define("short", {"=fqn:a", "&2"});
  define("missing", {"$nobody"});
  const auto named = [&](const std::string& name) {
    SelectorInput input;
    for (const NodeFact& n : shop.facts) input.nodes.push_back(&n);
    SelectorRequest request;
    request.named = name;
    std::string out;
    for (const std::string& id : Select(input, request).ids) out += id.substr(id.rfind('.') + 1);
    return out;
  };
  CHECK(named("all_but") == "bc");
  CHECK(named("both") == "ab");
  CHECK(named("again") == "abe");
  CHECK(named("none") == "");
  CHECK(shop.Chosen({}) == "abcde");  // a name for nodes is no node
  CHECK(shop.Chosen({"*"}) == "abcde");
  CHECK_THROWS_WITH(named("circle"), doctest::Contains("form that is not known"));
  CHECK_THROWS_WITH(named("odd"), doctest::Contains("'odd' of selectors.yml"));
  CHECK_THROWS_WITH(named("short"), doctest::Contains("'short'"));
  CHECK_THROWS_WITH(named("missing"), doctest::Contains("no selector 'nobody', of which 'missing' is made"));
  CHECK_THROWS_WITH(named("nobody"), doctest::Contains("known: again, all_but, both"));
}

TEST_CASE("selectors walk, unite, intersect and leave out as dbt's do") {
  Shop shop;
  CHECK(shop.Chosen({}) == "abcde");
  CHECK(shop.Chosen({"b+"}) == "bde");
  CHECK(shop.Chosen({"b+1"}) == "bd");
  CHECK(shop.Chosen({"+d"}) == "abcd");
  CHECK(shop.Chosen({"1+d+1"}) == "bcde");
  CHECK(shop.Chosen({"@b"}) == "abcde");
  CHECK(shop.Chosen({"a c"}) == "ac");
  CHECK(shop.Chosen({"a", "c"}) == "ac");
  CHECK(shop.Chosen({"b+,+d"}) == "bd");
  CHECK(shop.Chosen({}, {}, {"model"}) == "abcde");
  CHECK(shop.Chosen({}, {}, {}, {"model"}) == "");
  CHECK_THROWS_AS(shop.Chosen({}, {}, {}, {"modle"}), Error);
  CHECK(shop.Chosen({"b+"}, {"e"}) == "bd");
  CHECK(shop.Chosen({"staging"}) == "ab");
  CHECK(shop.Chosen({"marts.core"}) == "d");
  CHECK(shop.Chosen({"shop.marts.*"}) == "de");
  CHECK(shop.Chosen({"path:models/marts"}) == "de");
  CHECK(shop.Chosen({"models/staging/a.sql"}) == "a");
  CHECK(shop.Chosen({"file:e"}) == "e");
  CHECK(shop.Chosen({"[ab]"}) == "ab");
  CHECK(shop.Chosen({"nothing"}) == "");
}

TEST_CASE("selectors read tags, config, types, states and results") {
  Shop shop;
  shop.facts[0].tags = {"daily"};
  shop.facts[1].config["materialized"] = {"incremental"};
  shop.facts[2].config["meta.owner"] = {"finance"};
  shop.facts.push_back(Node("s", {}, {}, "seed"));
  CHECK(shop.Chosen({"tag:dai*"}) == "a");
  CHECK(shop.Chosen({"config.materialized:incremental"}) == "b");
  CHECK(shop.Chosen({"config.meta.owner:finance"}) == "c");
  CHECK(shop.Chosen({"resource_type:seed"}) == "s");
  CHECK(shop.Chosen({}, {}, {"seed"}) == "s");
  shop.old = shop.facts;
  shop.old.pop_back();               // s is new
  shop.old[3].more["body"] = "was";  // d has changed
  CHECK(shop.Chosen({"state:new"}) == "s");
  CHECK(shop.Chosen({"state:modified"}) == "ds");
  CHECK(shop.Chosen({"state:modified.configs"}) == "s");
  CHECK(shop.Chosen({"state:modified+"}) == "des");
  CHECK(shop.Chosen({"state:unmodified"}) == "abce");
  shop.results["model.shop.e"] = "error";
  CHECK(shop.Chosen({"result:error"}) == "e");
  // A macro that changed changes whatever calls it, through other macros too.
  NodeFact inner, outer;
  inner.id = "macro.shop.inner", inner.type = "macro", inner.more["body"] = "new";
  outer.id = "macro.shop.outer", outer.type = "macro", outer.more["body"] = "x";
  outer.more["macros"] = inner.id;
  shop.facts[0].more["macros"] = shop.old[0].more["macros"] = outer.id;
  shop.facts.push_back(inner), shop.facts.push_back(outer);
  inner.more["body"] = "old";
  shop.old.push_back(inner), shop.old.push_back(outer);
  CHECK(shop.Chosen({"state:modified.macros"}) == "a");
  CHECK(shop.Chosen({"state:modified"}) == "ads");
}

TEST_CASE("what dbt refuses is refused") {
  const Shop shop;
  CHECK_THROWS_AS(shop.Chosen({"tagg:x"}), Error);
  CHECK_THROWS_AS(shop.Chosen({"@a+"}), Error);
  CHECK_THROWS_AS(shop.Chosen({"state:modified"}), Error);
  CHECK_THROWS_AS(shop.Chosen({"result:error"}), Error);
  CHECK_THROWS_AS(shop.Chosen({"resource_type:table"}), Error);
  CHECK_THROWS_AS(shop.Chosen({}, {}, {"table"}), Error);
}

TEST_CASE("only what must be a selector looks like one") {
  for (const char* text : {"+a", "a+", "2+a", "@a", "tag:x", "config.materialized:table", "a,b", "fct_*"})
    CHECK(LooksLikeSelector(text));
  for (const char* text : {"fct_orders", "shop.public.orders", "s3://bucket/key", "snowflake://a/b.c"})
    CHECK_FALSE(LooksLikeSelector(text));
}

TEST_CASE("state:modified compares what dbt compares for each type") {
  NodeFact model = Node("a"), was = model;
  const auto modified = [](const NodeFact& now, const NodeFact& before,
                           const std::string& what = "state:modified") {
    SelectorInput input;
    input.nodes = {&now};
    input.state = {&before};
    input.has_state = true;
    return !Select(input, {{what}, {}, {}, {}}).ids.empty();
  };
  CHECK_FALSE(modified(model, was));
  struct Case {
    const char* type;
    const char* key;
    bool counts;
  };
  for (const Case& c : {Case{"model", "latest_version", true},
                        {"model", "deprecation_date", true},
                        {"model", "contract", true},
                        {"model", "schema", true},
                        {"snapshot", "latest_version", false},
                        {"source", "quoting", true},
                        {"source", "external", true},
                        {"source", "body", false},
                        {"metric", "description", true},
                        {"metric", "type_params", false},
                        {"exposure", "label", true},
                        {"semantic_model", "primary_entity", true},
                        {"saved_query", "group_by", true},
                        {"saved_query", "limit", false},
                        {"function", "returns", true},
                        {"unit_test", "checksum", true}}) {
    NodeFact now = Node("a", {}, {}, c.type), before = now;
    now.more[c.key] = "x";
    CHECK_MESSAGE(modified(now, before) == c.counts, c.type << " " << c.key);
  }
  NodeFact opened = model, moved = model;
  opened.access = "public";
  moved.fqn.insert(moved.fqn.begin() + 1, "marts");
  CHECK(modified(opened, was));
  CHECK(modified(moved, was));
  // What a target makes of a relation is no change; what is configured is.
  NodeFact here = model, there = model;
  here.more["placed"] = there.more["placed"] = "";
  here.more["schema"] = "dev";
  there.more["schema"] = "prod";
  CHECK_FALSE(modified(here, there));
  here.more["placed"] = "x";
  CHECK(modified(here, there, "state:modified.relation"));
  // A generic test is its config and its place.
  NodeFact test = Node("t", {}, {}, "test"), old_test = test;
  test.more["test_type"] = old_test.more["test_type"] = "generic";
  test.more["body"] = "other";
  CHECK_FALSE(modified(test, old_test));
  test.more["unrendered_config"] = "x", old_test.more["unrendered_config"] = "y";
  CHECK(modified(test, old_test));
}
