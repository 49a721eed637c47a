// Words that several renderers share.

#include "render/view/words.hpp"

#include <algorithm>

#include "graph/base/words.hpp"

namespace backreach {

std::size_t Columns(std::string_view text) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == 0x1B) {  // a colour
      while (i < text.size() && text[i] != 'm') ++i;
      ++i;
      continue;
    }
    const std::size_t length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    unsigned code = length == 1 ? c : length == 2 ? c & 0x1Fu : length == 3 ? c & 0x0Fu : c & 0x07u;
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k)
      code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3Fu);
    const bool combining = code >= 0x300 && code <= 0x36F;
    const bool wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                      (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                      (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
                      (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD);
    n += combining ? 0 : wide ? 2 : 1;
    i += length;
  }
  return n;
}

std::string Wrapped(const std::string& text, int width, std::size_t at, int indent) {
  const std::size_t margin = indent < 0 ? at : static_cast<std::size_t>(indent);
  const std::size_t most = static_cast<std::size_t>(width);
  // Where little room is left the text hangs further left, but never over the margin of 24.
  const std::size_t left = margin + 20 > most ? std::min<std::size_t>(margin, 24) : margin;
  std::string out;
  std::size_t column = at;
  bool first = true;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find(' ', i), text.size());
    const std::string_view word(text.data() + i, end - i);
    const std::size_t size = Columns(word);
    if (!first && column + 1 + size > most) {
      out += "\n" + std::string(left, ' ');
      column = left;
    } else if (!first) {
      out += ' ';
      ++column;
    } else if (at > left && column + size > most) {
      out += "\n" + std::string(left, ' ');
      column = left;
    }
    out += word;
    column += size;
    first = false;
    i = end + 1;
  }
  return out;
}

std::string OwnerText(const std::string& owner, const std::string& contact, std::string_view before,
                      std::string_view behind) {
  const std::string address = StartsWith(contact, "mailto:") ? contact.substr(7) : contact;
  if (owner.empty() || address.empty()) return owner + contact;
  if (owner == address || owner == contact || owner.find("<" + address + ">") != std::string::npos)
    return owner;
  return owner + std::string(before) + contact + std::string(behind);
}

std::string XmlEscaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace backreach
