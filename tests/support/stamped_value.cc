// SPDX-License-Identifier: MIT
#include "support/stamped_value.h"

#include <algorithm>
#include <cstring>

#include "support/random.h"

namespace cairn_test {
namespace {

// As stored, in the machine's own byte order: values are read where they were made.
struct Layout {
    std::uint64_t key;
    std::uint64_t writer;
    std::uint64_t version;
    std::uint64_t begin;
    std::uint64_t size;
    std::uint64_t seal;  // over all before; also the seed of what follows
};
static_assert(sizeof(Layout) == kStampSize);

std::uint64_t seal_of(const Layout &layout) {
    std::uint64_t seal = 0x5EA1;
    for (const auto word : {layout.key, layout.writer, layout.version, layout.begin, layout.size}) {
        seal = mix(seal, word);
    }
    return seal;
}

// The bytes after a stamp: for every second one repetitive, as programs are, else random.
class Rest {
  public:
    explicit Rest(std::uint64_t seal) : random_(seal), repeats_(seal % 2 == 0 ? 16 : 1) {}
    std::uint64_t next() {
        if (count_++ % repeats_ == 0) word_ = random_.next();
        return word_;
    }

  private:
    Random random_;
    unsigned repeats_;
    unsigned count_ = 0;
    std::uint64_t word_ = 0;
};

}  // namespace

ByteVector stamped_value(const Stamp &stamp, std::size_t size) {
    size = std::max(size, kStampSize);
    Layout layout = {stamp.key, stamp.writer, stamp.version, stamp.begin, size, 0};
    layout.seal = seal_of(layout);
    ByteVector value(size);
    std::memcpy(value.data(), &layout, sizeof(layout));
    Rest rest(layout.seal);
    for (std::size_t at = kStampSize; at < size; at += 8) {
        const std::uint64_t word = rest.next();
        std::memcpy(value.data() + at, &word, std::min<std::size_t>(8, size - at));
    }
    return value;
}

std::optional<Stamp> read_stamp(ByteView value) {
    Layout layout;
    if (value.size() < sizeof(layout)) return std::nullopt;
    std::memcpy(&layout, value.data(), sizeof(layout));
    if (layout.size != value.size() || layout.seal != seal_of(layout)) return std::nullopt;
    Rest rest(layout.seal);
    for (std::size_t at = kStampSize; at < value.size(); at += 8) {
        const std::uint64_t word = rest.next();
        const std::size_t part = std::min<std::size_t>(8, value.size() - at);
        if (std::memcmp(value.data() + at, &word, part) != 0) return std::nullopt;
    }
    return Stamp{layout.key, layout.writer, layout.version, layout.begin};
}

ByteVector numbered_key(std::uint64_t family, std::uint64_t number, std::size_t size_max) {
    const std::uint64_t head = mix(family, number);
    const std::size_t size =
        size_max <= 16 ? 16 : 16 + static_cast<std::size_t>(mix(head) % (size_max - 15));
    ByteVector key(size);
    std::memcpy(key.data(), &family, 8);
    std::memcpy(key.data() + 8, &number, 8);
    Random(head).fill(std::span(key).subspan(16));
    return key;
}

}  // namespace cairn_test
