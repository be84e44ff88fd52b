// The file of `cairn import`: what is accepted is what `cairn export` writes. Tried as it is, and
// with the check that a hostile author would compute.
// SPDX-License-Identifier: MIT
#include <cairn/cairn.h>
#include <cairn/internal/front_end.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "warm_set.h"

namespace {

using cairn::cli::decode_warm_set;
using cairn::cli::WarmSet;

void try_file(const std::string &file) {
    std::string problem;
    const auto set = decode_warm_set(std::as_bytes(std::span(file)), problem);
    if (set.has_value() != problem.empty()) std::abort();
    if (set && cairn::cli::encode_warm_set(*set) != file) std::abort();
}

std::string checked(std::string file) {
    uint8_t check[CAIRN_PROGRAM_KEY_SIZE];
    cairn_key_builder *builder = cairn_key_begin("cairn-warm-set/1");
    cairn_key_add(builder, 1, file.data(), file.size());
    cairn_key_finish(builder, check);
    return file.append(reinterpret_cast<const char *>(check), sizeof check);
}

// One entry that is whole, so that more than refusals is seen.
std::string with_entry(const std::string &body) {
    WarmSet set = {"gl-0", 2, body.substr(0, 16), {}};
    cairn::cli::WarmEntry entry;
    entry.key.fill(3);
    entry.binary = std::string(CAIRN_EGL_ENTRY_HEAD_SIZE, '\0') + body + "x";
    cairn_egl_entry_seal(entry.key.data(), entry.key.size(), entry.binary.data(),
                         entry.binary.size());
    set.entries.push_back(entry);
    return cairn::cli::encode_warm_set(set);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string input(reinterpret_cast<const char *>(data), size);
    try_file(input);
    try_file(checked(input));
    try_file(checked(std::string("CAIRNSET\1\0\0\0", 12) + input));
    // Bytes of a whole file that are exchanged, with a check that fits.
    std::string file = with_entry(input.substr(0, 64));
    try_file(file);
    file.resize(file.size() - CAIRN_PROGRAM_KEY_SIZE);
    for (size_t i = 0; i + 1 < std::min<size_t>(size, 32); i += 2) {
        file[static_cast<unsigned char>(input[i]) % file.size()] = input[i + 1];
    }
    try_file(checked(file));
    return 0;
}
