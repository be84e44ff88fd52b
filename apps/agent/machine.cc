// SPDX-License-Identifier: MIT
#include "machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>

#include "cache/wanted.h"
#include "manifest_format.h"
#include "os/environment.h"
#include "os/root.h"
#include "os/text_file.h"
#include "output.h"

namespace cairn::fleet {
namespace {

namespace fs = std::filesystem;
using cli::Failure;
using cli::kExitFailure;

constexpr const char *kFolder = ".fleet";
constexpr const char *kMachineName = "machine";
// No NAME begins with a dot.
constexpr const char *kMakingName = ".machine";
constexpr std::string_view kNewBegin = "new-", kNewEnd = ".pack";
constexpr std::uint64_t kHourNs = 3'600'000'000'000;

Failure cannot(const char *what, const std::string &path, Error error) {
    return {kExitFailure, "cannot {} {}: {}", what, path, error_name(error)};
}

std::optional<std::uint64_t> number_in(std::string_view digits) {
    std::uint64_t number = 0;
    const char *const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, number, 16);
    return error == std::errc() && stopped == end && number != 0 ? std::optional(number)
                                                                 : std::nullopt;
}

}  // namespace

TemporaryPack::~TemporaryPack() {
    std::error_code error;
    if (!path_.empty()) fs::remove(path_, error);
}

Machine::Machine(std::string root) : root_(std::move(root)) {
    const auto opened = open_root(root_, Create::yes, Log());
    if (!opened.ok()) throw cannot("use", root_, opened.error());
    const Status made = opened->create_directory(kFolder);
    if (!made.ok() && made.error() != Error::exists) throw cannot("make", path(""), made.error());
    auto folder = opened->open_directory(kFolder);
    if (!folder.ok()) throw cannot("use", path(""), folder.error());
    folder_ = std::move(folder.value());
    remove_leftovers();
}

// Of processes that are not there any more: nothing takes an hour.
void Machine::remove_leftovers() const {
    cli::Words old;
    (void)folder_.list([&](std::string_view name) {
        // Locks have the names of applications.
        if (!name.starts_with(kNewBegin) || name.ends_with(".lock")) return;
        const auto info = folder_.info(std::string(name));
        if (info.ok() && wall_clock_ns() > info->modified_ns + kHourNs) old.emplace_back(name);
    });
    std::error_code error;
    for (const std::string &name : old) fs::remove_all(path(name), error);
}

std::uint64_t Machine::number() const {
    constexpr std::size_t kDigits = 16;
    std::optional<ByteLock> making;
    for (;;) {
        const auto text = read_text_file(folder_, kMachineName, kDigits);
        if (const auto number = text.ok() ? number_in(text.value()) : std::nullopt) return *number;
        // Two that make one at once would each keep its own, and nobody merges what the other has published.
        if (!making) {
            making.emplace(lock(kMakingName));
            continue;
        }
        std::array<std::byte, 8> chance = {};
        random_bytes(chance);
        const std::string made = machine_name(get_le<std::uint64_t>(chance, 0) | 1);
        const Status written = folder_.replace_file(kMachineName, as_bytes(made));
        if (!written.ok()) throw cannot("write", path(kMachineName), written.error());
    }
}

std::string Machine::new_folder_path() const {
    std::array<std::byte, 8> chance = {};
    random_bytes(chance);
    return path(std::string(kNewBegin) + machine_name(get_le<std::uint64_t>(chance, 0)));
}

TemporaryPack Machine::new_pack() const {
    return TemporaryPack(new_folder_path() + std::string(kNewEnd));
}

TemporaryPack Machine::new_pack(Bytes content) const {
    TemporaryPack pack = new_pack();
    const auto file = folder_.create_file(fs::path(pack.path()).filename());
    const Status written = file.ok() ? file->write_at(0, std::span(&content, 1)) : file.error();
    if (!written.ok()) throw cannot("write", pack.path(), written.error());
    return pack;
}

std::optional<std::string> Machine::copy_of(const std::string &shelf,
                                            const std::string &manifest) const {
    const auto folder = Directory::open(path("manifests/" + shelf));
    if (!folder.ok()) return std::nullopt;
    auto text = read_text_file(folder.value(), manifest, kManifestMax + 1);
    return text.ok() ? std::optional(std::move(text.value())) : std::nullopt;
}

void Machine::keep_copy(const std::string &shelf, const std::string &manifest,
                        Bytes content) const {
    std::error_code error;
    fs::create_directories(path("manifests/" + shelf), error);
    const auto folder = Directory::open(path("manifests/" + shelf));
    if (!folder.ok()) return;
    (void)folder->replace_file_lazily(manifest, content);
}

void Machine::forget_copies(const std::string &shelf, const cli::Words &but) const {
    const auto folder = Directory::open(path("manifests/" + shelf));
    if (!folder.ok()) return;
    cli::Words old;
    (void)folder->list([&](const char *name) {
        if (std::ranges::find(but, name) == but.end()) old.emplace_back(name);
    });
    for (const std::string &name : old) (void)folder->remove_file(name);
}

std::optional<std::string> Machine::read_text(const std::string &name) const {
    constexpr std::size_t kTextMax = 256u << 10;
    auto text = read_text_file(folder_, name, kTextMax);
    return text.ok() ? std::optional(std::move(text.value())) : std::nullopt;
}

void Machine::write_text(const std::string &name, const std::string &text) const {
    (void)folder_.replace_file_lazily(name, as_bytes(text));
}

// Those of caches that nobody uses any more go when there are many.
void Machine::write_wanted(const PackIdentity &identity,
                           std::span<const std::uint64_t> hashes) const {
    constexpr std::size_t kFilesMax = 256;
    (void)folder_.create_directory("wanted");
    const auto folder = folder_.open_directory("wanted");
    if (!folder.ok()) return;
    const std::string name = wanted_path("", identity).substr(wanted_path("", {}).rfind('/') + 1);
    (void)folder->replace_file_lazily(
        name, encode_wanted(hashes.first(std::min(hashes.size(), kWantedMax))));
    std::vector<std::pair<std::uint64_t, std::string>> files;
    (void)folder->list([&](const char *each) {
        const auto info = folder->info(each);
        if (info.ok()) files.emplace_back(info->modified_ns, each);
    });
    std::ranges::sort(files);
    for (std::size_t i = 0; i + kFilesMax < files.size(); ++i) {
        (void)folder->remove_file(files[i].second);
    }
}

ByteLock Machine::lock(const std::string &name) const {
    constexpr std::uint64_t kPatienceUs = 60'000'000;
    auto opened = folder_.open_or_make_file(name + ".lock");
    if (!opened.ok()) throw cannot("write", path(name + ".lock"), opened.error());
    auto lock =
        ByteLock::acquire(std::make_shared<const File>(std::move(opened.value())), 0, kPatienceUs);
    if (!lock.ok()) {
        throw Failure(kExitFailure,
                      "another process merges the packs of {} and does not end; try again when it "
                      "has",
                      name);
    }
    return std::move(lock.value());
}

}  // namespace cairn::fleet
