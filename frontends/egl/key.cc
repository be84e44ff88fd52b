// SPDX-License-Identifier: MIT
#include "key.h"

#include <bits/functexcept.h>

#include <utility>

namespace cairn::egl {

KeyBuilder::KeyBuilder(const char *domain) : builder_(cairn_key_begin(domain)) {
    if (builder_ == nullptr) {
        std::__throw_bad_alloc();
    }
}

KeyBuilder::~KeyBuilder() {
    if (builder_ != nullptr) {
        finish();
    }
}

void KeyBuilder::add(Tag tag, std::string_view bytes) {
    cairn_key_add(builder_, static_cast<uint32_t>(tag), bytes.data(), bytes.size());
}

void KeyBuilder::add_number(Tag tag, uint64_t number) {
    cairn_key_add_u64(builder_, static_cast<uint32_t>(tag), number);
}

Key KeyBuilder::finish() {
    Key key;
    cairn_key_finish(std::exchange(builder_, nullptr), key.data());
    return key;
}

}  // namespace cairn::egl
