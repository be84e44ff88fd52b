// SPDX-License-Identifier: MIT
#include "cache/egl_entry.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "cache/program_key.h"

namespace cairn::egl_entry {
namespace {

constexpr std::array<std::byte, kMagicSize> kMagic = {std::byte{'C'}, std::byte{'G'},
                                                      std::byte{'P'}, std::byte{'2'}};

std::array<std::byte, 32> digest(Bytes key, Bytes entry) {
    ProgramKey hash("egl-entry/2");
    hash.add(1, key);
    hash.add(2, entry.subspan(kHeadSize));
    return hash.finish();
}

}  // namespace

void seal(Bytes key, MutableBytes entry) {
    assert(key.size() == kKeySize && entry.size() > kHeadSize);
    const auto check = digest(key, entry);
    std::copy(kMagic.begin(), kMagic.end(), entry.begin());
    std::copy_n(check.begin(), kSealSize, entry.begin() + kMagicSize);
}

bool is_whole(Bytes key, Bytes entry) {
    if (key.size() != kKeySize || entry.size() <= kHeadSize ||
        !std::equal(kMagic.begin(), kMagic.end(), entry.begin())) {
        return false;
    }
    const auto check = digest(key, entry);
    return std::equal(check.begin(), check.begin() + kSealSize, entry.begin() + kMagicSize);
}

}  // namespace cairn::egl_entry
