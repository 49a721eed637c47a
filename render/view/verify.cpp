// A row's bar is as long as its count after, against the largest of its dataset; a stroke stands where the
// count before ended, so that twice the rows, a part of them and none are seen at a glance.

#include "render/view/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "graph/base/words.hpp"
#include "render/view/words.hpp"

namespace backreach {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMostRows = 40;

Json OrNull(const std::optional<std::int64_t>& n) { return n ? Json(*n) : Json(); }

std::string Number(const std::optional<std::int64_t>& n) { return n ? Thousands(*n) : "-"; }

std::int64_t Largest(const VerifiedDataset& d) {
  std::int64_t most = 1;
  for (const CountedCell& c : d.cells) most = std::max({most, c.before.value_or(0), c.after.value_or(0)});
  return most;
}

std::string Bar(const CountedCell& c, std::int64_t largest, int width) {
  const auto length = [&](std::int64_t n) {
    const double part = static_cast<double>(n) / static_cast<double>(largest);
    return n == 0 ? 0 : std::max(1, static_cast<int>(part * width + 0.5));
  };
  const int after = length(c.after.value_or(0));
  std::string out(static_cast<std::size_t>(after), '#');
  if (!c.before) return out;
  const std::size_t before = static_cast<std::size_t>(length(*c.before));
  if (out.size() < before + 1) out.resize(before + 1, ' ');
  out[before] = '|';
  return out;
}

std::string ChangeOf(const CountedCell& c) {
  if (!c.before || !c.after) return !c.after && c.before ? "gone" : "";
  const std::int64_t d = *c.after - *c.before;
  if (d == 0) return "=";
  std::string out = (d < 0 ? "-" : "+") + Thousands(d < 0 ? -d : d);
  if (*c.before != 0)
    out += fmt::format("  {:+.1f}%", 100.0 * static_cast<double>(d) / static_cast<double>(*c.before));
  return out;
}

// All cells of a small table; of a large one those that differ, and how many do not.
std::vector<const CountedCell*> Shown(const VerifiedDataset& d, bool all, std::size_t& left_out) {
  std::vector<const CountedCell*> out;
  left_out = 0;
  const bool some = !all && d.cells.size() > kMostRows;
  for (const CountedCell& c : d.cells) {
    const bool quiet = c.before == c.after || (!c.before && c.code.empty());
    if (some && (quiet || out.size() >= kMostRows))
      ++left_out;
    else
      out.push_back(&c);
  }
  return out;
}

std::string Pad(const std::string& text, std::size_t width, bool right) {
  const std::size_t columns = Columns(text);
  const std::string blanks(width > columns ? width - columns : 0, ' ');
  return right ? blanks + text : text + blanks;
}

void Chart(const VerifiedDataset& d, int width, bool all, std::string& out) {
  std::size_t left_out = 0;
  const auto cells = Shown(d, all, left_out);
  std::size_t key = 0, before = 6, after = 5, change = 0;
  for (const CountedCell* c : cells) {
    key = std::max(key, Columns(Printable(c->key)));
    before = std::max(before, Number(c->before).size()), after = std::max(after, Number(c->after).size());
    change = std::max(change, ChangeOf(*c).size());
  }
  const int used = static_cast<int>(2 + key + 2 + before + 2 + after + 2 + change + 2);
  const int room = std::max(8, std::min(40, width - used - 1));
  if (!cells.empty())
    out += "  " + Pad("", key, false) + "  " + Pad("before", before, true) + "  " +
           Pad("after", after, true) + "\n";
  const std::int64_t largest = Largest(d);
  for (const CountedCell* c : cells) {
    std::string line = "  " + Pad(Printable(c->key), key, false) + "  " +
                       Pad(Number(c->before), before, true) + "  " + Pad(Number(c->after), after, true) +
                       "  " + Pad(ChangeOf(*c), change, false) + "  " + Bar(*c, largest, room);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + "\n";
  }
  if (left_out > 0)
    out += fmt::format("  and {} more {} (--all)\n", Thousands(static_cast<std::int64_t>(left_out)),
                       left_out == 1 ? "cell" : "cells");
}

const char* Mark(const std::string& severity) {
  return severity == "fail" ? "x" : severity == "warning" ? "!" : "-";
}

}  // namespace

std::string VerifyText(const Verification& v, int width, bool all) {
  std::string out;
  std::int64_t fails = 0, warnings = 0;
  std::map<std::string, std::int64_t> codes;
  for (const VerifyFinding& f : v.findings) {
    fails += f.severity == "fail";
    warnings += f.severity == "warning";
    ++codes[f.code];
  }
  out += v.result == "pass" ? "pass: nothing in the counts speaks against the rebuild"
         : v.result == "fail"
             ? fmt::format("fail: {} that must not be", Plural(fails, "finding"))
             : "unverified: the counts do not tell whether the rebuild did what the plan says";
  out += fmt::format(" (plan {})\n", v.plan);
  for (const auto& [severity, most] : std::map<std::string, std::size_t>{{"fail", 20}, {"warning", 10}}) {
    std::size_t n = 0;
    for (const VerifyFinding& f : v.findings) {
      if (f.severity != severity) continue;
      if (++n > most && !all) continue;
      out +=
          fmt::format("  {} {:<18} {}\n", Mark(severity), f.code, Wrapped(Printable(f.message), width, 23));
    }
    if (n > most && !all) out += fmt::format("  {} and {} more (--all)\n", Mark(severity), n - most);
  }
  for (const VerifiedDataset& d : v.datasets) {
    out += "\n" + Printable(d.dataset);
    if (d.planned)
      out += fmt::format(": {} of {} planned {} counted", Thousands(d.counted), Thousands(*d.planned),
                         *d.planned == 1 ? "cell is" : "cells are");
    if (d.before || d.after)
      out += fmt::format("{} {} -> {} rows", d.planned ? "," : ":", Number(d.before), Number(d.after));
    out += "\n";
    Chart(d, width, all, out);
  }
  if (!v.notes.empty()) out += "\n";
  for (const std::string& note : v.notes) out += Wrapped(note, width, 0) + "\n";
  return out;
}

std::string VerifyJson(const Verification& v) {
  Json findings = Json::array(), totals = Json::array();
  for (const VerifyFinding& f : v.findings)
    findings.push_back({{"code", f.code},
                        {"severity", f.severity},
                        {"dataset", f.dataset},
                        {"partition", f.partition ? Json(*f.partition) : Json()},
                        {"before", OrNull(f.before)},
                        {"after", OrNull(f.after)},
                        {"message", f.message}});
  for (const VerifiedDataset& d : v.datasets)
    totals.push_back({{"dataset", d.dataset},
                      {"before", OrNull(d.before)},
                      {"after", OrNull(d.after)},
                      {"planned", OrNull(d.planned)},
                      {"counted", d.counted}});
  const Json j = {{"format", "backreach.verify/1"}, {"plan", v.plan},   {"result", v.result},
                  {"findings", findings},           {"totals", totals}, {"notes", v.notes}};
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

constexpr int kLeft = 150, kPlot = 640, kRow = 18;

std::string Rect(double x, double y, double w, double h, const char* style) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>\n", x, y, w, h,
                     style);
}

// One dataset from `y` on; a row of two bars for each cell. Returns where it ends.
int DatasetSvg(const VerifiedDataset& d, int y, std::string& out) {
  std::size_t left_out = 0;
  const auto cells = Shown(d, d.cells.size() <= 400, left_out);
  const double largest = static_cast<double>(Largest(d));
  out += "<g class=\"node\">\n";
  out += fmt::format("<text x=\"8\" y=\"{}\" font-weight=\"bold\">{}</text>\n", y + 14,
                     XmlEscaped(Printable(d.dataset)));
  y += 24;
  for (const CountedCell* c : cells) {
    const auto width = [&](std::int64_t n) { return kPlot * static_cast<double>(n) / largest; };
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, y + 12,
                       XmlEscaped(Printable(c->key)));
    if (c->before) out += Rect(kLeft, y + 1, width(*c->before), 6, "fill=\"#b8b8b8\"");
    if (c->after)
      out += Rect(kLeft, y + 8, width(*c->after), 6,
                  c->code == "equal" || c->code.empty() || c->code == "changed" || c->code == "new"
                      ? "fill=\"#2b6cb0\""
                      : "fill=\"#c53030\" stroke=\"#000000\" stroke-dasharray=\"2 1\"");
    std::string label = Number(c->before) + " -> " + Number(c->after);
    if (!c->code.empty() && c->code != "equal") label += "  " + c->code;
    out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kLeft + kPlot + 8, y + 12, XmlEscaped(label));
    y += kRow;
  }
  if (left_out > 0) {
    out += fmt::format("<text x=\"{}\" y=\"{}\">and {} more cells, equal or further on</text>\n", kLeft,
                       y + 12, left_out);
    y += kRow;
  }
  out += "</g>\n";
  return y + 12;
}

}  // namespace

std::string VerifySvg(const Verification& v) {
  std::string body;
  int y = 48;
  for (const VerifiedDataset& d : v.datasets) y = DatasetSvg(d, y, body);
  const int width = kLeft + kPlot + 260;
  return fmt::format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
             "width=\"{0}\" "
             "height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
             "<title>Rows before and after, plan {2}</title>\n<rect width=\"{0}\" height=\"{1}\" "
             "fill=\"#ffffff\"/>\n"
             "<text x=\"8\" y=\"18\" font-size=\"14\">{3}: rows before (grey, above) and after (below), plan "
             "{2}</text>\n"
             "<text x=\"8\" y=\"36\">counts only; a dashed red bar is one that must be looked at</text>\n",
             width, y + 8, XmlEscaped(v.plan), v.result) +
         body + "</svg>\n";
}

}  // namespace backreach
