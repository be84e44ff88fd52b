// Fleet manifests (docs/formats/manifest.md): what is decoded encodes to the same bytes. Tried as they
// are, and with the check that a hostile author would give them. And the names of objects.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checksum.h"
#include "manifest_format.h"

namespace {

using cairn::Bytes;

constexpr std::size_t kCheckSize = 8;
constexpr std::uint64_t kCheckSeed = 5;

void try_body(Bytes body) {
    namespace fleet = cairn::fleet;
    const auto manifest = fleet::decode(body);
    if (!manifest) return;
    if (!fleet::is_possible(*manifest)) std::abort();
    if (!cairn::same_bytes(cairn::as_bytes(fleet::encode(*manifest)), body)) std::abort();
}

void try_name(std::string_view name) {
    namespace fleet = cairn::fleet;
    const auto parsed = fleet::parse_manifest_name(name);
    if (!parsed) return;
    const std::string again =
        fleet::machine_name(parsed->machine) + "-" + cairn::hexadecimal(parsed->hash);
    if (again != name) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const Bytes input = std::as_bytes(std::span(data, size));
    try_body(input);
    try_name({reinterpret_cast<const char *>(input.data()), input.size()});
    if (input.size() < kCheckSize) return 0;
    std::vector<std::byte> body(input.begin(), input.end());
    const std::size_t checked = body.size() - kCheckSize;
    cairn::put_le(cairn::MutableBytes(body), checked,
                  cairn::checksum(Bytes(body).first(checked), kCheckSeed));
    try_body(body);
    return 0;
}
