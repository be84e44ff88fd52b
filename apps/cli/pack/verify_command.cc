// SPDX-License-Identifier: MIT
// `cairn pack verify`.
#include <fmt/format.h>

#include "base/checksum.h"
#include "output.h"
#include "pack/commands.h"
#include "pack/verify.h"
#include "signature.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(Examples:
  cairn pack verify game.pack

Exit codes: 0 all are whole, 1 one is damaged or no pack, 2 wrong usage.)";

void check_headers(const Pack &pack, Words &damages) {
    for (const std::uint64_t at : {std::uint64_t{0}, pack.body_size() - kPackHeaderSize}) {
        PackHeaderBytes bytes;
        if (!pack.read(at, bytes) || !decode_pack_header(bytes)) {
            damages.push_back(at == 0 ? "the header at its beginning" : "the header at its end");
        }
    }
    if (!pack.about()) damages.emplace_back("the text about it");
}

void check_dictionary(const OpenPart &part, const Pack &pack, Words &damages) {
    const PackRow &row = part.part->row();
    std::vector<std::byte> bytes(row.dictionary_size);
    for (const std::uint64_t copy : {0u, 1u}) {
        if (!pack.read(row.dictionary_offset + copy * bytes.size(), bytes) ||
            checksum(bytes, row.seed()) != row.dictionary_check) {
            damages.push_back(
                fmt::format("{}: copy {} of its dictionary", part.subject.identifier, copy + 1));
        }
    }
}

void check_entries(const OpenPart &part, Words &damages) {
    const PackRow &row = part.part->row();
    Progress progress("Verifying " + std::string(part.subject.identifier), row.slot_count());
    std::uint32_t whole = 0;
    for (std::uint32_t slot = 0; slot < row.slot_count(); ++slot) {
        progress.add(1);
        const auto entry = part.part->read(slot);
        if (!entry.ok()) throw Failure(kExitFailure, "there is not enough memory to verify it");
        if (!entry.value()) continue;
        const auto found = part.part->find_slot(entry.value()->key());
        if (found.ok() && found.value() == slot) ++whole;
    }
    if (whole != row.entry_count) {
        damages.push_back(fmt::format("{}: {} of {} entries", part.subject.identifier,
                                      row.entry_count - std::min(whole, row.entry_count),
                                      row.entry_count));
    }
    if (order_of(*part.part).size() != row.order_count) {
        damages.push_back(fmt::format("{}: the order of a start", part.subject.identifier));
    }
}

int verify(const Words &files) {
    int exit_code = kExitOk;
    for (const std::string &file : files) {
        try {
            const Words damages = damages_of(open_pack(file));
            for (const std::string &damage : damages) complain("{} is damaged: {}", file, damage);
            if (!damages.empty()) exit_code = kExitFailure;
            if (damages.empty()) say(fmt::format("{} is whole", file));
        } catch (const Failure &failure) {
            complain(failure.what());
            exit_code = kExitFailure;
        }
    }
    return exit_code;
}

Run define(Arguments &take) {
    auto files = std::make_shared<Words>();
    take.values("FILE", *files, "Packs");
    take.quiet();
    return [files] {
        if (files->empty()) throw Failure(kExitUsage, "name the packs to verify");
        return verify(*files);
    };
}

}  // namespace

Words damages_of(const OpenPack &pack) {
    Words damages;
    if (pack.pack->info().size_bytes != pack.pack->body_size() + kPackTrailerSize) {
        damages.emplace_back("it was cut, or something was added");
    }
    check_headers(*pack.pack, damages);
    if (read_trailer(pack.pack->file(), pack.path) && !signer_of(pack.pack->file(), pack.path)) {
        damages.emplace_back("the signature is not of these bytes");
    }
    try {
        require_known(pack);
    } catch (const Failure &failure) {
        damages.emplace_back(failure.what());
    }
    for (const OpenPart &part : pack.parts) {
        check_dictionary(part, *pack.pack, damages);
        check_entries(part, damages);
    }
    return damages;
}

const Command pack_verify_command = {"verify", "Check all that is in packs", kFooter, define};

}  // namespace cairn::cli
