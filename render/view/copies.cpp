// A copy stands under its owner, since it is the owner who has to act; what nobody owns stands last.

#include "render/view/copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/base/words.hpp"
#include "graph/time/time.hpp"
#include "render/view/words.hpp"

namespace backreach {

namespace {

// A field for CSV; formulas are defused, since spreadsheets run them.
std::string Csv(const std::string& text) {
  std::string field = Printable(text);
  if (!field.empty() && std::string_view("=+-@").find(field[0]) != std::string_view::npos)
    field = "'" + field;
  if (field.find_first_of(",\"\n") == std::string::npos) return field;
  std::string out = "\"";
  for (const char c : field) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// A name or message in Markdown: no markup of its own, one line.
std::string Plain(const std::string& text) {
  std::string out;
  for (const char c : Printable(text)) {
    if (std::string_view("\\`*_{}[]<>|#~!").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// What both kinds of copies have, under one name each.
struct View {
  std::string id, kind, where, owner, contact, note, holds, wrong, heals, stays, action, mismatch;
  std::vector<std::string> of, taken, by, feeds, seen;
  std::vector<DatasetId> datasets;
  bool personal = false, known = true;
};

std::string HoldsText(const std::optional<HoldsFact>& holds) {
  if (!holds) return "";
  if (holds->all) return "all";
  if (holds->last) return "the last " + *holds->last;
  return holds->from.value_or("") + " .. " + holds->to.value_or("");
}

View ViewOf(const LineageGraph& g, const ListedCopy& listed) {
  View v;
  if (const Copy* c = listed.copy) {
    v.id = c->id, v.kind = c->kind, v.where = c->where, v.owner = c->owner, v.contact = c->contact,
    v.note = c->note;
    v.taken = c->taken, v.by = c->by, v.personal = c->personal_data, v.known = c->known;
    v.holds = HoldsText(c->holds);
    if (c->refresh) {
      if (v.holds.empty()) v.holds = HoldsText(c->refresh->holds);
      v.holds += fmt::format("{}{}{}", v.holds.empty() ? "" : ", ",
                             c->refresh->cron ? "again by " + *c->refresh->cron : "again and again",
                             c->refresh->keeps ? ", " + *c->refresh->keeps : "");
    }
    if (v.holds.empty()) v.holds = "unknown";
    for (const CopyOf& o : c->of) {
      v.of.push_back(o.dataset.valid() ? g[o.dataset].name : o.name + (o.copy.valid() ? "" : " (unknown)"));
      if (o.dataset.valid()) v.datasets.push_back(o.dataset);
    }
    for (const DatasetId fed : c->feeds) v.feeds.push_back(g[fed].name);
    for (const Seen& s : c->seen) v.seen.push_back(FormatSeen(s));
  }
  if (const AffectedCopy* a = listed.affected) {
    if (!listed.copy) {
      v.id = a->id, v.kind = a->kind, v.where = a->where, v.note = a->note, v.of = a->of, v.taken = a->taken,
      v.by = a->by;
      v.datasets = a->datasets, v.known = a->known, v.holds = a->content_text;
    }
    v.wrong = a->keyed_by.valid() ? SpansText(g[a->keyed_by], a->affected) : "unknown";
    if (a->content == "unknown") v.wrong += " (what it holds is unknown: taken as wrong)";
    if (a->heals) v.heals = FormatInstant(a->heals->at);
    v.stays = a->stays, v.action = a->action, v.mismatch = a->mismatch;
  }
  return v;
}

std::string OwnerOf(const View& v) {
  return !v.owner.empty() ? v.owner : !v.contact.empty() ? v.contact : "";
}

std::map<std::string, std::vector<View>> ByOwner(const LineageGraph& g,
                                                 const std::vector<ListedCopy>& copies) {
  std::map<std::string, std::vector<View>> out;
  for (const ListedCopy& listed : copies) {
    View v = ViewOf(g, listed);
    out[OwnerOf(v)].push_back(std::move(v));
  }
  return out;
}

std::string OneCopy(const View& v) {
  std::string out = Printable(v.id) + "\n";
  const auto line = [&](const char* what, const std::string& text) {
    if (!text.empty()) out += fmt::format("  {:<6} {}\n", what, Printable(text));
  };
  line("of", ListOf(v.of, 20));
  line("kind", v.kind + (v.where.empty() ? "" : ", " + v.where));
  const std::string who = OwnerText(v.owner, v.contact, ", ", "");
  line("who", who.empty() ? "nobody named" : who);
  line("taken", ListOf(v.taken, 5));
  line("holds", v.holds + (v.personal ? "; personal data" : ""));
  line("wrong", v.wrong);
  line("heals", v.heals.empty() ? "" : v.heals + (v.stays.empty() ? "" : "; what stays: " + v.stays));
  line("to do", v.action);
  line("feeds", ListOf(v.feeds, 20));
  line("by", ListOf(v.by, 10));
  line("note", v.mismatch);
  for (const std::string& seen : v.seen) line("from", seen);
  return out;
}

// What a person is asked to do, in a sentence.
std::string Asked(const View& v) {
  static const std::map<std::string, std::string> sentences = {
      {"send-again", "Please take it again once the correction is published, and replace what you have."},
      {"retrain",
       "Please train the model again once the correction is published, or say that the difference is "
       "accepted."},
      {"rerun", "Please run the notebook again, and replace what was taken from it."},
      {"refresh", "Please refresh the cache or extract once the correction is published."},
      {"rebuild", "Please build the set again once the correction is published."},
      {"annotate", "Please mark the figures as from before the correction, or replace them."},
      {"accept", "It comes right by itself; please say so to whoever uses it until then."}};
  const auto it = sentences.find(v.action);
  return it == sentences.end() ? "" : it->second;
}

std::string FileFor(const std::string& owner, std::set<std::string>& used) {
  std::string name;
  for (const char c : Lower(owner)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  if (name.empty()) name = "nobody-named";
  if (name.size() > 60) name.resize(60);
  std::string out = name + ".md";
  for (int n = 2; !used.insert(out).second; ++n) out = fmt::format("{}-{}.md", name, n);
  return out;
}

// The figures of a dataset by their names, where a catalog told them.
std::string Figures(const LineageGraph& g, DatasetId id) {
  if (!g[id].measure || g[id].measure->column_types.empty()) return "";
  std::vector<std::string> names;
  for (const auto& [name, type] : g[id].measure->column_types) names.push_back(name);
  return ListOf(names, 12);
}

std::string Notice(const LineageGraph& g, const std::string& owner, const std::vector<View>& copies,
                   const std::string& what) {
  std::string out = fmt::format("# Copies that {}\n\n", what.empty() ? "are kept outside the platform"
                                                                     : "hold figures that are corrected");
  std::set<std::string> contacts;
  for (const View& v : copies)
    if (!v.contact.empty())
      contacts.insert(StartsWith(v.contact, "mailto:") ? v.contact.substr(7) : v.contact);
  out +=
      fmt::format("To: {}{}\n\n", Plain(owner.empty() ? "nobody is named as owner" : owner),
                  contacts.empty() ? "" : " (" + Plain(Join({contacts.begin(), contacts.end()}, ", ")) + ")");
  if (!what.empty()) out += Plain(what) + "\n\n";
  out +=
      what.empty()
          ? "These copies were taken from our data. They do not change when it is corrected:\n"
          : "These copies were taken before the correction and keep the old figures until somebody acts:\n";
  for (const View& v : copies) {
    out += fmt::format("\n## {}\n\n", Plain(v.id));
    const auto line = [&](const char* name, const std::string& text) {
      if (!text.empty()) out += fmt::format("- {}: {}\n", name, Plain(text));
    };
    line("taken from", ListOf(v.of, 20));
    line("where", v.where);
    line("taken", Join(v.taken, ", "));
    line("holds", v.holds);
    line("wrong in it", v.wrong);
    for (const DatasetId id : v.datasets) line("figures", Figures(g, id));
    line("comes right by itself", v.heals);
    line("stays wrong", v.stays);
    line("also", v.mismatch);
    if (v.personal) out += "- it holds personal data: rows that were deleted with us have to go there too\n";
    if (!v.feeds.empty()) line("comes back to us in", ListOf(v.feeds, 20));
    if (const std::string asked = Asked(v); !asked.empty()) out += "\n" + asked + "\n";
  }
  return out;
}

}  // namespace

std::string CopiesText(const LineageGraph& g, const std::vector<ListedCopy>& copies) {
  const auto owners = ByOwner(g, copies);
  std::string out;
  const auto part = [&](const std::string& owner, const std::vector<View>& list) {
    if (owners.size() > 1)
      out += fmt::format("{}{}\n", out.empty() ? "" : "\n",
                         Printable(owner.empty() ? "NOBODY NAMED" : Upper(owner)));
    for (const View& v : list) out += OneCopy(v);
  };
  for (const auto& [owner, list] : owners)
    if (!owner.empty()) part(owner, list);
  if (const auto it = owners.find(""); it != owners.end()) part("", it->second);
  return out;
}

std::string CopiesCsv(const LineageGraph& g, const std::vector<ListedCopy>& copies) {
  std::string out =
      "id,of,kind,where,owner,contact,taken,holds,wrong,heals,stays,action,personal_data,known,by,feeds,"
      "note\n";
  for (const auto& [owner, list] : ByOwner(g, copies))
    for (const View& v : list)
      out += Csv(v.id) + "," + Csv(Join(v.of, "; ")) + "," + Csv(v.kind) + "," + Csv(v.where) + "," +
             Csv(v.owner) + "," + Csv(v.contact) + "," + Csv(Join(v.taken, "; ")) + "," + Csv(v.holds) + "," +
             Csv(v.wrong) + "," + Csv(v.heals) + "," + Csv(v.stays) + "," + Csv(v.action) + "," +
             (v.personal ? "yes" : "no") + "," + (v.known ? "yes" : "no") + "," + Csv(Join(v.by, "; ")) +
             "," + Csv(Join(v.feeds, "; ")) + "," + Csv(v.mismatch.empty() ? v.note : v.mismatch) + "\n";
  return out;
}

std::vector<std::pair<std::string, std::string>> CopyNotices(const LineageGraph& g,
                                                             const std::vector<ListedCopy>& copies,
                                                             const std::string& what) {
  std::vector<std::pair<std::string, std::string>> out;
  std::set<std::string> used;
  for (const auto& [owner, list] : ByOwner(g, copies))
    out.emplace_back(FileFor(owner, used), Notice(g, owner, list, what));
  return out;
}

}  // namespace backreach
