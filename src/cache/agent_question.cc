// SPDX-License-Identifier: MIT
#include "cache/agent_question.h"

#include <algorithm>

#include "cache/agent_notice.h"
#include "cache/cache.h"
#include "os/root.h"

namespace cairn {
namespace {

constexpr std::string_view kQuestionMagic = "CNASKING", kAnswerMagic = "CNANSWER";
constexpr std::uint16_t kVersion = 1;
constexpr std::uint16_t kKindEntry = 1;
constexpr std::uint16_t kKindPack = 1, kKindNone = 2;
constexpr std::size_t kVersionAt = 8, kKindAt = 10, kRootSizeAt = 12, kIdentifierSizeAt = 14;
constexpr std::size_t kSequenceAt = 16, kEntryAt = 24, kHeadSize = 32;
constexpr std::size_t kZeroAt = 12, kPackAt = 24;
static_assert(kPackAt + sizeof(KeptPackName) == kAnswerSize);

bool begins_with(Bytes message, std::string_view magic) {
    return same_bytes(message.first(magic.size()), as_bytes(magic)) &&
           get_le<std::uint16_t>(message, kVersionAt) == kVersion;
}

}  // namespace

std::optional<std::vector<std::byte>> encode_question(const AgentQuestion &question) {
    if (!is_valid_root(question.root) || !valid_identifier(question.identifier) ||
        question.root.size() > kQuestionSizeMax - kHeadSize - question.identifier.size()) {
        return std::nullopt;
    }
    std::vector<std::byte> message(kHeadSize);
    std::ranges::copy(as_bytes(kQuestionMagic), message.begin());
    put_le(message, kVersionAt, kVersion);
    put_le(message, kKindAt, kKindEntry);
    put_le(message, kRootSizeAt, static_cast<std::uint16_t>(question.root.size()));
    put_le(message, kIdentifierSizeAt, static_cast<std::uint16_t>(question.identifier.size()));
    put_le(message, kSequenceAt, question.sequence);
    put_le(message, kEntryAt, question.entry);
    for (const std::string_view text :
         {std::string_view(question.root), std::string_view(question.identifier)}) {
        const Bytes bytes = as_bytes(text);
        message.insert(message.end(), bytes.begin(), bytes.end());
    }
    return message;
}

std::optional<AgentQuestion> decode_question(Bytes message) {
    if (message.size() < kHeadSize || message.size() > kQuestionSizeMax) return std::nullopt;
    const std::size_t root_size = get_le<std::uint16_t>(message, kRootSizeAt);
    const std::size_t identifier_size = get_le<std::uint16_t>(message, kIdentifierSizeAt);
    if (!begins_with(message, kQuestionMagic) ||
        get_le<std::uint16_t>(message, kKindAt) != kKindEntry ||
        message.size() != kHeadSize + root_size + identifier_size) {
        return std::nullopt;
    }
    AgentQuestion question = {get_le<std::uint64_t>(message, kSequenceAt),
                              get_le<std::uint64_t>(message, kEntryAt),
                              std::string(as_text(message.subspan(kHeadSize, root_size))),
                              std::string(as_text(message.last(identifier_size)))};
    if (!is_valid_root(question.root) || !valid_identifier(question.identifier)) {
        return std::nullopt;
    }
    return question;
}

std::array<std::byte, kAnswerSize> encode_answer(const AgentAnswer &answer) {
    std::array<std::byte, kAnswerSize> message = {};
    std::ranges::copy(as_bytes(kAnswerMagic), message.begin());
    put_le(MutableBytes(message), kVersionAt, kVersion);
    put_le(MutableBytes(message), kKindAt, answer.pack ? kKindPack : kKindNone);
    put_le(MutableBytes(message), kSequenceAt, answer.sequence);
    if (answer.pack) std::ranges::copy(*answer.pack, message.begin() + kPackAt);
    return message;
}

std::optional<AgentAnswer> decode_answer(Bytes message) {
    if (message.size() != kAnswerSize || !begins_with(message, kAnswerMagic) ||
        get_le<std::uint32_t>(message, kZeroAt) != 0) {
        return std::nullopt;
    }
    AgentAnswer answer = {get_le<std::uint64_t>(message, kSequenceAt), std::nullopt};
    KeptPackName name = {};
    std::ranges::copy(message.subspan(kPackAt), name.begin());
    const auto kind = get_le<std::uint16_t>(message, kKindAt);
    if (kind == kKindPack) {
        answer.pack = name;
    } else if (kind != kKindNone || name != KeptPackName()) {
        return std::nullopt;
    }
    return answer;
}

std::string kept_packs_path(const std::string &root) {
    return root + "/.fleet/packs";
}

std::string kept_pack_file(const KeptPackName &name) {
    return hexadecimal(name) + ".pack";
}

}  // namespace cairn
