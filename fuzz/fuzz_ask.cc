// Questions to the agent, its answers (docs/formats/agent.md) and the file of wanted entries: what is accepted is what is
// written.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "base/checksum.h"
#include "cache/agent_question.h"
#include "cache/wanted.h"

namespace {

void require(bool is_true) {
    if (!is_true) std::abort();
}

void check_question(cairn::Bytes input) {
    const auto question = cairn::decode_question(input);
    if (!question) return;
    const auto again = cairn::encode_question(*question);
    require(again && std::ranges::equal(*again, input));
}

void check_answer(cairn::Bytes input) {
    const auto answer = cairn::decode_answer(input);
    if (answer) require(std::ranges::equal(cairn::encode_answer(*answer), input));
}

void check_wanted(cairn::Bytes input) {
    const auto hashes = cairn::decode_wanted(input);
    if (hashes) require(std::ranges::equal(cairn::encode_wanted(*hashes), input));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const auto input = std::as_bytes(std::span(data, size));
    check_question(input);
    check_answer(input);
    check_wanted(input);
    // The same with a checksum that is right, behind which the decoder is to be tested, too.
    constexpr std::uint64_t kCheckSeed = 6;
    std::vector<std::byte> whole(input.begin(), input.end());
    whole.resize(size + 8);
    cairn::put_le(cairn::MutableBytes(whole), size, cairn::checksum(input, kCheckSeed));
    check_wanted(whole);
    return 0;
}
