// SPDX-License-Identifier: MIT
#include "pack/plan.h"

#include <fmt/format.h>
#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <utility>

#include "cache/generations.h"
#include "keys.h"
#include "os/configuration.h"
#include "output.h"
#include "recipe/recipe.h"

namespace cairn::cli {
namespace {

// Values of a part, spread over all of it, one behind the other.
struct Sample {
    std::string bytes;
    std::vector<std::size_t> sizes;
};

constexpr std::uint64_t kSampleMax = 8u << 20;

Sample take_sample(const PlannedPart &part, std::uint64_t bytes_max,
                   const std::function<bool(const PlannedEntry &)> &is_wanted) {
    constexpr std::size_t kValueMax = 256u << 10, kValuesMax = 4000;
    Sample sample;
    const std::size_t step = part.entries.size() / kValuesMax + 1;
    for (std::size_t i = 0; i < part.entries.size() && sample.bytes.size() < bytes_max; i += step) {
        if (!is_wanted(part.entries[i])) continue;
        (void)part.read(part.entries[i], [&](Bytes value) {
            const Bytes first = value.first(std::min(value.size(), kValueMax));
            sample.bytes.append(reinterpret_cast<const char *>(first.data()), first.size());
            sample.sizes.push_back(first.size());
        });
    }
    return sample;
}

// What the values take together with this dictionary.
std::size_t compressed_size(const Sample &sample, const std::string &dictionary) {
    constexpr int kLevel = 3;
    const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                       ZSTD_freeCCtx);
    const std::unique_ptr<ZSTD_CDict, decltype(&ZSTD_freeCDict)> words(
        ZSTD_createCDict(dictionary.data(), dictionary.size(), kLevel), ZSTD_freeCDict);
    std::string out;
    std::size_t sum = 0, at = 0;
    for (const std::size_t size : sample.sizes) {
        out.resize(ZSTD_compressBound(size));
        const std::size_t compressed = ZSTD_compress_usingCDict(
            context.get(), out.data(), out.size(), sample.bytes.data() + at, size, words.get());
        sum += ZSTD_isError(compressed) != 0 ? size : compressed;
        at += size;
    }
    return sum;
}

// Empty where it would not pay: it is in the pack twice, and must save a tenth.
std::string dictionary_for(const Sample &sample, std::size_t entries) {
    constexpr std::size_t kSize = 64u << 10;
    std::string dictionary(kSize, '\0');
    const std::size_t size =
        ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), sample.bytes.data(),
                              sample.sizes.data(), static_cast<unsigned>(sample.sizes.size()));
    if (ZDICT_isError(size) != 0) return "";
    dictionary.resize(size);
    const auto without = static_cast<double>(compressed_size(sample, ""));
    const auto with = static_cast<double>(compressed_size(sample, dictionary));
    // Of all values, as far as the sample tells.
    const double share = static_cast<double>(std::max<std::size_t>(sample.sizes.size(), 1)) /
                         static_cast<double>(entries);
    return (without - with) / share > 2.0 * static_cast<double>(size) && with < 0.9 * without
               ? dictionary
               : "";
}

// Nullopt: there is no limit.
std::optional<std::uint64_t> max_bytes_of(const PackOptions &options) {
    if (options.max_bytes.empty()) return std::nullopt;
    const auto max_bytes = size_from_text(options.max_bytes);
    if (!max_bytes) {
        throw Failure(kExitUsage, "--max-bytes `{}`: no such size; write 64M", options.max_bytes);
    }
    return max_bytes;
}

// What an entry saves for its bytes. Nobody says what a piece of machine code takes to make: llvmpipe
// takes 20 to 50 ms.
double worth_of(const PlannedEntry &entry, PackKind kind) {
    constexpr double kDriverFileUs = 20'000;
    const double saved_us = kind == PackKind::driver_files ? kDriverFileUs : entry.cost_us;
    return saved_us / static_cast<double>(size_in_pack(entry));
}

void leave_out_what_is_not_for_packs(std::vector<PlannedPart> &parts) {
    for (PlannedPart &part : parts) {
        // What was drawn here was not drawn elsewhere.
        std::erase_if(part.entries,
                      [](const PlannedEntry &each) { return recipe::is_note(each.key); });
        if (!part.is_recipes() || part.version != recipe::kVersion) continue;
        std::erase_if(part.entries,
                      [](const PlannedEntry &each) { return !recipe::is_for_packs(each.key); });
    }
}

}  // namespace

bool PlannedPart::is_recipes() const {
    return kind == PackKind::entries && is_of_recipes(generation);
}

std::string_view PlannedPart::keep(std::string_view key) const {
    auto *const place = static_cast<char *>(memory->allocate(key.size(), 1));
    std::copy(key.begin(), key.end(), place);
    return {place, key.size()};
}

std::uint64_t size_in_pack(const PlannedEntry &entry) {
    return entry.stored_size + entry.key.size() + 64;
}

std::vector<PlannedPart> split(PlannedPart part, std::uint64_t bytes_max) {
    const std::vector<PlannedEntry> entries = std::exchange(part.entries, {});
    std::vector<PlannedPart> pieces;
    std::uint64_t sum = 0;
    for (const PlannedEntry &entry : entries) {
        const std::uint64_t size = size_in_pack(entry);
        if (pieces.empty() || size > bytes_max - std::min(sum, bytes_max)) {
            pieces.push_back(part);
            sum = 0;
        }
        pieces.back().entries.push_back(entry);
        sum += size;
    }
    return pieces;
}

void add_pack_options(Arguments &take, PackOptions &options) {
    take.value("--max-bytes", options.max_bytes,
               "Only what saves most time for its bytes, up to so many; recipes stay whole",
               "SIZE");
    take.value("--about", options.about, "What the pack is, for people", "TEXT");
    take.value("--sign", options.sign, "Sign it with this key of yours (`cairn key create`)",
               "KEY");
    take.flag("--no-compress", options.no_compress, "Leave values as they are");
}

void keep_the_best(std::vector<PlannedPart> &parts, const PackOptions &options) {
    leave_out_what_is_not_for_packs(parts);
    if (const auto max_bytes = max_bytes_of(options)) {
        struct Choice {
            PlannedEntry *entry;
            double worth;
        };
        std::vector<Choice> choices;
        std::uint64_t sum = 0;
        for (PlannedPart &part : parts) {
            for (PlannedEntry &entry : part.entries) {
                if (part.is_recipes()) {
                    sum += size_in_pack(entry);
                } else {
                    choices.push_back({&entry, worth_of(entry, part.kind)});
                }
            }
        }
        std::stable_sort(choices.begin(), choices.end(),
                         [](const Choice &a, const Choice &b) { return a.worth > b.worth; });
        for (const Choice &choice : choices) {
            const std::uint64_t size = size_in_pack(*choice.entry);
            if (size > *max_bytes - std::min(sum, *max_bytes)) {
                choice.entry->key = {};  // no key is empty
            } else {
                sum += size;
            }
        }
        for (PlannedPart &part : parts) {
            std::erase_if(part.entries, [](const PlannedEntry &each) { return each.key.empty(); });
        }
    }
    std::erase_if(parts, [](const PlannedPart &part) { return part.entries.empty(); });
}

PackMaker::PackMaker(const PackOptions &options)
    : options_(options), what_("write " + options.out) {
    (void)max_bytes_of(options);
    if (!options.sign.empty()) key_.emplace(load_secret_key(options.sign));
}

void PackMaker::begin(std::size_t parts, NewFile::Reader reader) {
    if (parts == 0) throw Failure(kExitFailure, "there is nothing to pack");
    if (parts > kPackPartsMax) {
        throw Failure(kExitFailure, "these are {} parts, and a pack holds {}; make several", parts,
                      kPackPartsMax);
    }
    file_.emplace(options_.out, reader);
    writer_.emplace(file_->file());
}

// To compress a value of 1 MiB takes 33 MiB with all its copies, and one of 2 MiB takes 60.
bool PackMaker::is_too_large(std::uint64_t value_size) const {
    return options_.memory_max && value_size > *options_.memory_max / 32;
}

// Making one takes 12 MiB besides the sample.
std::string PackMaker::dictionary_of(const PlannedPart &part) const {
    const std::uint64_t bytes_max =
        std::min(kSampleMax, options_.memory_max.value_or(UINT64_MAX) / 8);
    const Sample sample = take_sample(part, bytes_max, [&](const PlannedEntry &entry) {
        return !is_too_large(entry.stored_size);
    });
    return dictionary_for(sample, part.entries.size());
}

std::uint64_t PackMaker::write(const PlannedPart &part) {
    // Drivers compress what they keep.
    const bool compresses = part.kind == PackKind::entries && !options_.no_compress;
    const std::string dictionary = compresses ? dictionary_of(part) : "";
    require_done(writer_->begin_part(part.subject(),
                                     compresses ? PackCompression::zstd : PackCompression::none,
                                     as_bytes(dictionary)),
                 what_);
    Progress progress("Packing " + part.identifier, part.entries.size());
    std::uint64_t written = 0;
    for (const PlannedEntry &entry : part.entries) {
        progress.add(1);
        if (is_too_large(entry.stored_size)) continue;
        (void)part.read(entry, [&](Bytes value) {
            // Compressed as it is stored, it may be larger now.
            if (is_too_large(value.size())) return;
            require_done(writer_->add({as_bytes(entry.key), value, entry.cost_us, entry.pinned}),
                         what_);
            ++written;
        });
    }
    require_done(writer_->end_part(part.order), what_);
    return written;
}

void PackMaker::sign() {
    const Progress progress("Signing " + options_.out, 0);
    const std::uint64_t body_size = writer_->size_bytes() - kTrailerSize;
    const TrailerBytes trailer =
        encode_trailer(sign_file(file_->file(), options_.out, body_size, *key_));
    const Bytes bytes(trailer);
    require_done(file_->file().write_at(body_size, std::span(&bytes, 1)), "sign " + options_.out);
}

std::string PackMaker::finish(const std::string &about) {
    require_done(writer_->finish(about), what_);
    if (key_) sign();
    file_->commit();
    return fmt::format("{} ({}), {}", options_.out, format_bytes(writer_->size_bytes()),
                       key_ ? "signed" : "not signed");
}

}  // namespace cairn::cli
