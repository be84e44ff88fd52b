// Recipes and the messages of their player (docs/formats/recipe.md): what is decoded encodes to the
// same bytes. The first byte chooses what the others are.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "recipe/player.h"
#include "recipe/recipe.h"

namespace {

using cairn::Bytes;

template <typename Decode>
void try_bytes(Bytes bytes, Decode decode) {
    const auto decoded = decode(bytes);
    if (!decoded) return;
    if (!cairn::same_bytes(cairn::as_bytes(cairn::recipe::encode(*decoded)), bytes)) std::abort();
}

void try_key(Bytes bytes) {
    namespace recipe = cairn::recipe;
    const std::string_view key(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    const auto kind = recipe::kind_of(key);
    if (recipe::is_for_packs(key) != (kind && *kind != recipe::Kind::application)) std::abort();
    if (!kind) return;
    if (*kind == recipe::Kind::program && recipe::key_of_program(recipe::hash_in(key)) != key) {
        std::abort();
    }
    if (*kind == recipe::Kind::source && recipe::key_of_source(recipe::hash_in(key)) != key) {
        std::abort();
    }
    if (*kind == recipe::Kind::seen && !key.ends_with(recipe::driver_in(key))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    namespace recipe = cairn::recipe;
    if (size == 0) return 0;
    const Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
    switch (data[0]) {
        case 'c':
            try_bytes(bytes, recipe::decode_context);
            break;
        case 'p':
            try_bytes(bytes, recipe::decode_program);
            break;
        case 's':
            try_bytes(bytes, recipe::decode_source);
            break;
        case 'd':
            try_bytes(bytes, recipe::decode_state);
            break;
        case 'x':
            try_bytes(bytes, recipe::decode_application);
            break;
        case 'w':
            try_bytes(bytes, recipe::decode_work);
            break;
        case 'r':
            try_bytes(bytes, recipe::decode_ready);
            break;
        case 'e':
            try_bytes(bytes, recipe::decode_done);
            break;
        default:
            try_key(bytes);
            break;
    }
    return 0;
}
