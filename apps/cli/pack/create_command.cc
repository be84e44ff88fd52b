// SPDX-License-Identifier: MIT
// `cairn pack create`: packs caches for other machines.
#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>

#include "cache/driver_cache.h"
#include "cache/generations.h"
#include "cache/start_order.h"
#include "caches.h"
#include "command.h"
#include "keys.h"
#include "os/configuration.h"
#include "os/root.h"
#include "pack/commands.h"
#include "pack/files.h"

namespace cairn::cli {
namespace {

constexpr const char *kFooter =
    R"(A pack holds programs as drivers compiled them: it serves machines with the very same driver (and with a driver that
draws by the processor: the same processor). Make one for each, and merge them. The same caches give the same bytes.
An older OUT.pack is replaced when the new one is whole.

Examples:
  cairn pack create game.pack --application game
  cairn pack create game.pack --application game --starts 3 --max-bytes 64M
  cairn pack create all.pack --all --about "Kiosk, driver 550.54"

Exit codes: 0 written, 1 there is no such cache, there is nothing to pack, or OUT.pack cannot be written, 2 wrong usage.)";

struct Options {
    std::string out;
    Selection selection;
    std::string about;
    std::string max_bytes;
    std::optional<std::string> starts;  // a number
    std::string sign;                   // the name of a key; empty: it is not signed
    bool no_compress = false;
    bool no_driver_files = false;
};

// An entry as it is chosen; the value stays in the cache.
struct Key {
    std::string_view bytes;  // of the source's memory
    std::uint64_t stored_size;
    std::uint32_t cost_us;
    bool pinned;
};

struct Source {
    std::string identifier;
    std::uint64_t version = 0;
    std::string generation;
    // Strings of their own would lie between the values that are read with them, and keep those
    // places from being used again.
    std::unique_ptr<std::pmr::monotonic_buffer_resource> memory =
        std::make_unique<std::pmr::monotonic_buffer_resource>();
    std::vector<Key> keys;
    StartOrder order;
    CacheHandle cache;

    std::string_view keep(std::string_view key) const {
        auto *const place = static_cast<char *>(memory->allocate(key.size(), 1));
        return {std::copy(key.begin(), key.end(), place) - key.size(), key.size()};
    }
    PackSubject subject() const { return {PackKind::entries, identifier, version, generation}; }
};

Source look_at(const std::string &root, const std::string &identifier,
               std::optional<unsigned> starts) {
    Source source;
    source.identifier = identifier;
    source.cache = open_cache(root, identifier, Access::read_only);
    source.version = cache_stats(source.cache).version;
    if (const auto folder = Directory::open(root + "/" + identifier); folder.ok()) {
        const auto text = read_text_file(folder.value(), kGenerationFileName, kPackTextMax);
        if (text.ok()) source.generation = text.value();
        source.order = starts ? read_order(folder.value(), *starts) : read_order(folder.value());
    }
    const std::set<std::string_view> in_order(source.order.begin(), source.order.end());
    for_each_entry(source.cache, "read `" + identifier + "`", [&](const cairn_entry &entry) {
        const std::string_view key(static_cast<const char *>(entry.key), entry.key_size);
        if (starts && !in_order.contains(key)) return true;
        source.keys.push_back({source.keep(key), entry.stored_size, entry.cost_us,
                               (entry.flags & CAIRN_PUT_PINNED) != 0});
        return true;
    });
    std::sort(source.keys.begin(), source.keys.end(),
              [](const Key &a, const Key &b) { return a.bytes < b.bytes; });
    return source;
}

// Leaves those entries that save most time for their bytes, as far as they fit.
void keep_the_best(std::vector<Source> &sources, std::uint64_t max_bytes) {
    struct Choice {
        Key *key;
        double worth;
    };
    std::vector<Choice> choices;
    for (Source &source : sources) {
        for (Key &key : source.keys) {
            const auto size = static_cast<double>(key.stored_size + key.bytes.size() + 64);
            choices.push_back({&key, static_cast<double>(key.cost_us) / size});
        }
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice &a, const Choice &b) { return a.worth > b.worth; });
    std::uint64_t sum = 0;
    for (const Choice &choice : choices) {
        const std::uint64_t size = choice.key->stored_size + choice.key->bytes.size() + 64;
        if (size > max_bytes - std::min(sum, max_bytes)) {
            choice.key->bytes = {};  // no key is empty
        } else {
            sum += size;
        }
    }
    for (Source &source : sources) {
        std::erase_if(source.keys, [](const Key &key) { return key.bytes.empty(); });
    }
}

struct BlobCloser {
    void operator()(cairn_blob *blob) const { cairn_blob_free(blob); }
};
using BlobHandle = std::unique_ptr<cairn_blob, BlobCloser>;

// Null: it is gone, or damaged.
BlobHandle get(const Source &source, const Key &key) {
    cairn_blob *blob = nullptr;
    (void)cairn_get(source.cache.get(), key.bytes.data(), key.bytes.size(), &blob);
    return BlobHandle(blob);
}

Bytes value_of(const BlobHandle &blob) {
    return {static_cast<const std::byte *>(cairn_blob_data(blob.get())),
            cairn_blob_size(blob.get())};
}

// Values of a part, spread over all of it, one behind the other.
struct Sample {
    std::string bytes;
    std::vector<std::size_t> sizes;
};

Sample take_sample(const Source &source) {
    constexpr std::size_t kBytesMax = 8u << 20, kValueMax = 256u << 10, kValuesMax = 4000;
    Sample sample;
    const std::size_t step = source.keys.size() / kValuesMax + 1;
    for (std::size_t i = 0; i < source.keys.size() && sample.bytes.size() < kBytesMax; i += step) {
        const BlobHandle blob = get(source, source.keys[i]);
        if (blob == nullptr) continue;
        const Bytes value = value_of(blob).first(std::min(cairn_blob_size(blob.get()), kValueMax));
        sample.bytes.append(reinterpret_cast<const char *>(value.data()), value.size());
        sample.sizes.push_back(value.size());
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
std::string dictionary_for(const Source &source) {
    constexpr std::size_t kSize = 64u << 10;
    const Sample sample = take_sample(source);
    std::string dictionary(kSize, '\0');
    const std::size_t size =
        ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), sample.bytes.data(),
                              sample.sizes.data(), static_cast<unsigned>(sample.sizes.size()));
    if (ZDICT_isError(size) != 0) return "";
    dictionary.resize(size);
    const double without = static_cast<double>(compressed_size(sample, ""));
    const double with = static_cast<double>(compressed_size(sample, dictionary));
    // Of all values, as far as the sample tells.
    const double share = static_cast<double>(std::max<std::size_t>(sample.sizes.size(), 1)) /
                         static_cast<double>(source.keys.size());
    return (without - with) / share > 2.0 * static_cast<double>(size) && with < 0.9 * without
               ? dictionary
               : "";
}

void write_part(PackWriter &writer, const Source &source, const Options &options) {
    const std::string what = "write " + options.out;
    const std::string dictionary = options.no_compress ? "" : dictionary_for(source);
    require_done(
        writer.begin_part(source.subject(),
                          options.no_compress ? PackCompression::none : PackCompression::zstd,
                          as_bytes(dictionary)),
        what);
    Progress progress("Packing " + source.identifier, source.keys.size());
    for (const Key &key : source.keys) {
        progress.add(1);
        const BlobHandle blob = get(source, key);
        if (blob == nullptr) continue;
        require_done(writer.add({as_bytes(key.bytes), value_of(blob), key.cost_us, key.pinned}),
                     what);
    }
    require_done(writer.end_part(source.order), what);
}

// The driver's files of an application, and which driver they are of: that of the cache that was
// used last.
struct DriverSource {
    std::string application;
    LayeredSubject subject;
    std::uint64_t used_ns = 0;
};

std::vector<DriverSource> driver_sources(const std::string &root,
                                         const std::vector<Source> &sources) {
    std::map<std::string, DriverSource> found;
    for (const Source &source : sources) {
        const auto application = application_of(source.generation, source.identifier);
        const auto folder = Directory::open(root + "/" + source.identifier);
        if (!application || !folder.ok()) continue;
        const auto used = folder.value().info(kGenerationFileName);
        DriverSource &own = found[*application];
        if (!used.ok() || used->modified_ns <= own.used_ns) continue;
        own = {*application, driver_subject(*application, source.generation), used->modified_ns};
    }
    std::vector<DriverSource> all;
    for (const auto &[name, each] : found) {
        if (driver_cache_bytes(root, name) != 0) all.push_back(each);
    }
    return all;
}

// Returns how many files were added.
std::uint64_t write_driver_part(PackWriter &writer, const std::string &root,
                                const DriverSource &source, const Options &options) {
    const std::string what = "write " + options.out;
    // Drivers compress what they keep.
    require_done(writer.begin_part(source.subject.of_kind(PackKind::driver_files),
                                   PackCompression::none, {}),
                 what);
    std::uint64_t count = 0, bytes = 0;
    visit_driver_files(root, source.application, [&](const std::string &name, const File &file) {
        const auto info = file.info();
        if (!info.ok() || info->size_bytes > kDriverFileMax || count == kDriverFilesMax ||
            bytes + info->size_bytes > kDriverBytesMax) {
            return;
        }
        std::vector<std::byte> content(info->size_bytes);
        const auto size = file.read_at(0, content);
        if (!size.ok() || size.value() != content.size()) return;
        require_done(writer.add({as_bytes(name), content, 0, false}), what);
        bytes += content.size();
        ++count;
    });
    require_done(writer.end_part({}), what);
    return count;
}

void sign(const NewFile &file, std::uint64_t size_bytes, const SecretKey &key,
          const Options &options) {
    const Progress progress("Signing " + options.out, 0);
    const std::uint64_t body_size = size_bytes - kTrailerSize;
    const TrailerBytes trailer =
        encode_trailer(sign_file(file.file(), options.out, body_size, key));
    const Bytes bytes(trailer);
    require_done(file.file().write_at(body_size, std::span(&bytes, 1)), "sign " + options.out);
}

// How many starts are asked for; nullopt: everything is packed.
std::optional<unsigned> starts_of(const Options &options) {
    if (!options.starts) return std::nullopt;
    const std::string &text = *options.starts;
    unsigned starts = 0;
    const char *const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, starts);
    if (error != std::errc() || stopped != end || starts == 0 || starts > kStartsMax) {
        throw Failure(kExitUsage, "--starts `{}`: write a number from 1 to {}", text, kStartsMax);
    }
    return starts;
}

int create(const Options &options) {
    const std::optional<unsigned> starts = starts_of(options);
    const std::string root = usable_root();
    std::optional<SecretKey> key;
    if (!options.sign.empty()) key.emplace(load_secret_key(options.sign));
    std::vector<Source> sources;
    for (const std::string &name : selected_caches(options.selection, "pack", root)) {
        Source source = look_at(root, name, starts);
        if (!source.keys.empty()) sources.push_back(std::move(source));
    }
    if (!options.max_bytes.empty()) {
        const auto max_bytes = size_from_text(options.max_bytes);
        if (!max_bytes) {
            throw Failure(kExitUsage, "--max-bytes `{}`: no such size; write 64M",
                          options.max_bytes);
        }
        keep_the_best(sources, *max_bytes);
        std::erase_if(sources, [](const Source &source) { return source.keys.empty(); });
    }
    if (sources.empty()) throw Failure(kExitFailure, "there is nothing to pack");
    const std::vector<DriverSource> of_drivers =
        options.no_driver_files ? std::vector<DriverSource>() : driver_sources(root, sources);
    const std::size_t parts = sources.size() + of_drivers.size();
    if (parts > kPackPartsMax) {
        throw Failure(kExitFailure, "these are {} parts, and a pack holds {}; pack them in several",
                      parts, kPackPartsMax);
    }
    NewFile file(options.out);
    PackWriter writer(file.file());
    std::uint64_t entries = 0;
    for (const Source &source : sources) {
        write_part(writer, source, options);
        entries += source.keys.size();
    }
    std::uint64_t driver_files = 0;
    for (const DriverSource &source : of_drivers) {
        driver_files += write_driver_part(writer, root, source, options);
    }
    require_done(writer.finish(options.about), "write " + options.out);
    if (key) sign(file, writer.size_bytes(), *key, options);
    file.commit();
    say(fmt::format("Packed {} of {} and {} into {} ({}), {}",
                    format_count(entries, "entry", "entries"),
                    format_count(sources.size(), "cache", "caches"),
                    format_count(driver_files, "file of machine code", "files of machine code"),
                    options.out, format_bytes(writer.size_bytes()), key ? "signed" : "not signed"));
    return kExitOk;
}

Run define(Arguments &take) {
    auto options = std::make_shared<Options>();
    take.required("OUT.pack", options->out, "The file to write");
    add_selection(take, options->selection, "Caches, as `cairn ls` shows them", Asks::no);
    take.value("--starts", options->starts, "Only what the last N recorded starts used", "N");
    take.value("--max-bytes", options->max_bytes,
               "Only what saves most time for its bytes, up to so many", "SIZE");
    take.value("--about", options->about, "What the pack is, for people", "TEXT");
    take.value("--sign", options->sign, "Sign it with this key of yours (`cairn key create`)",
               "KEY");
    take.flag("--no-driver-files", options->no_driver_files,
              "Leave out the machine code that drivers have made (see `cairn run --record`)");
    take.flag("--no-compress", options->no_compress, "Leave values as they are");
    return [options] { return create(*options); };
}

}  // namespace

const Command pack_create_command = {"create", "Write the entries of caches to a pack", kFooter,
                                     define};

}  // namespace cairn::cli
