// Texts and numbers one behind the other, as the store keeps them: a number is seven bits a byte, the lowest
// first; a text is its length and its bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "graph/base/error.hpp"

namespace backreach {

class ByteWriter {
 public:
  void Byte(unsigned char byte) {
    Room(1);
    data_[size_++] = static_cast<char>(byte);
  }
  void Number(std::uint64_t n) {
    Room(10);
    for (; n >= 0x80; n >>= 7) data_[size_++] = static_cast<char>(0x80 | (n & 0x7F));
    data_[size_++] = static_cast<char>(n);
  }
  void Text(std::string_view text) {
    Number(text.size());
    Raw(text.data(), text.size());
  }
  void Raw(const void* bytes, std::size_t size) {
    Room(size);
    if (size > 0) std::memcpy(data_.get() + size_, bytes, size);
    size_ += size;
  }
  // What is written between the two is preceded by its length.
  std::size_t Open() {
    Byte(0);
    return size_;
  }
  void Close(std::size_t begin) {
    std::size_t length = size_ - begin;
    if (length < 0x80) {
      data_[begin - 1] = static_cast<char>(length);
      return;
    }
    std::size_t more = 0;  // bytes of the length beside the one that is there
    for (std::size_t n = length; n >= 0x80; n >>= 7) ++more;
    Room(more);
    std::memmove(data_.get() + begin + more, data_.get() + begin, length);
    size_ += more;
    for (char* at = data_.get() + begin - 1;; ++at, length >>= 7) {
      *at = static_cast<char>(length >= 0x80 ? 0x80 | (length & 0x7F) : length);
      if (length < 0x80) return;
    }
  }
  std::string_view bytes() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }
  void Clear() { size_ = 0; }

 private:
  void Room(std::size_t more) {
    if (size_ + more > room_) Grow(more);
  }
  void Grow(std::size_t more) {
    std::size_t room = room_ < 256 ? 256 : room_ * 2;
    while (room < size_ + more) room *= 2;
    std::unique_ptr<char[]> data(new char[room]);
    if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
    data_ = std::move(data);
    room_ = room;
  }
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0, room_ = 0;
};

// Texts that are read lie in the bytes that were given. Throws Error(kStore) with `complaint` where they end
// too early.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, const char* complaint) : bytes_(bytes), complaint_(complaint) {}
  bool done() const { return at_ >= bytes_.size(); }
  unsigned char Byte() {
    if (done()) Fail();
    return static_cast<unsigned char>(bytes_[at_++]);
  }
  std::uint64_t Number() {
    std::uint64_t n = 0;
    for (int shift = 0;; shift += 7) {
      if (shift > 63) Fail();
      const unsigned char byte = Byte();
      n |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return n;
    }
  }
  std::string_view Text() {
    const std::uint64_t length = Number();
    if (length > bytes_.size() - at_) Fail();
    at_ += static_cast<std::size_t>(length);
    return bytes_.substr(at_ - static_cast<std::size_t>(length), static_cast<std::size_t>(length));
  }
  void Raw(void* out, std::size_t size) {
    if (size > bytes_.size() - at_) Fail();
    std::memcpy(out, bytes_.data() + at_, size);
    at_ += size;
  }
  void Skip(std::size_t size) {
    if (size > bytes_.size() - at_) Fail();
    at_ += size;
  }
  // What is preceded by its length, to be read by itself.
  ByteReader Part() { return ByteReader(Text(), complaint_); }
  // So many items can at most follow: a damaged count must not ask for memory.
  std::size_t Count() {
    const std::uint64_t n = Number();
    if (n > bytes_.size() - at_) Fail();
    return static_cast<std::size_t>(n);
  }
  [[noreturn]] void Fail() const { throw Error(complaint_, Status::kStore); }

 private:
  std::string_view bytes_;
  const char* complaint_;
  std::size_t at_ = 0;
};

}  // namespace backreach
