// SPDX-License-Identifier: MIT
#include "pack/files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "cache/generations.h"
#include "cache/layers.h"
#include "keys.h"
#include "os/environment.h"
#include "os/root.h"
#include "os/text_file.h"
#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

OpenPart open_part(const std::shared_ptr<const Pack> &pack, std::size_t number,
                   const std::string &path) {
    OpenPart open;
    open.part = std::make_unique<PackPart>(pack, number);
    auto text = pack->part_text(open.part->row());
    open.text = std::make_unique<const std::string>(text.value_or(""));
    const auto subject = decode_part_text(*open.text, open.part->row().kind);
    if (!subject || identity_of(*subject) != open.part->row().identity) {
        throw Failure(kExitFailure, "{}: what its part {} is of is damaged", path, number + 1);
    }
    open.subject = *subject;
    open.application = application_of(subject->generation, subject->identifier).value_or("");
    return open;
}

constexpr std::string_view kUnfinishedEnd = ".tmp";
// Who writes an unfinished file has it locked.
constexpr std::uint64_t kLockedByte = 0;

// Of a file `name`. No application takes it for a pack.
std::string unfinished_beginning(const std::string &name) {
    return "." + name + "-";
}

bool is_unfinished(std::string_view file, const std::string &name) {
    const std::string beginning = unfinished_beginning(name);
    if (!file.starts_with(beginning) || !file.ends_with(kUnfinishedEnd)) return false;
    file.remove_prefix(beginning.size());
    const std::string_view digits = file.substr(0, file.find(kUnfinishedEnd));
    return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos &&
           digits.size() + kUnfinishedEnd.size() == file.size();
}

}  // namespace

std::string OpenPart::name() const {
    return application.empty() ? std::string(subject.identifier) : application;
}

std::string OpenPart::about() const {
    const std::string_view generation = subject.generation;
    const std::size_t end_of_head = generation.find("\n\n");
    if (end_of_head == std::string_view::npos) return "";
    const std::string_view rest = generation.substr(end_of_head + 2);
    return std::string(rest.substr(0, rest.find('\n')));
}

OpenPack open_pack(const std::string &path) {
    auto file = Directory::working().open_file(path, Access::read_only);
    if (!file.ok()) {
        throw Failure(
            kExitFailure, "cannot read {}: {}", path,
            file.error() == Error::corrupt ? "it is no regular file" : error_name(file.error()));
    }
    auto pack = Pack::open(std::move(file.value()));
    if (!pack.ok()) {
        throw Failure(kExitFailure, "{} cannot be used: {}", path,
                      pack.error() == Error::corrupt ? "it is no pack, or damaged at both ends"
                      : pack.error() == Error::unsupported
                          ? "it is a pack of another format version"
                          : error_name(pack.error()));
    }
    OpenPack open = {path, std::move(pack.value()), {}};
    for (std::size_t i = 0; i < open.pack->rows().size(); ++i) {
        const PackKind kind = open.pack->rows()[i].kind;
        if (kind != PackKind::entries && kind != PackKind::driver_files) continue;
        open.parts.push_back(open_part(open.pack, i, path));
    }
    return open;
}

std::uint64_t visit_entries(
    const OpenPart &part,
    const std::function<void(std::uint32_t slot, PackPart::Entry entry)> &visit) {
    const PackRow &row = part.part->row();
    std::uint64_t found = 0, bytes = 0;
    for (std::uint32_t slot = 0; slot < row.slot_count(); ++slot) {
        auto entry = part.part->look_at(slot);
        if (!entry.ok()) throw Failure(kExitFailure, "there is not enough memory for this pack");
        if (!entry.value()) continue;
        ++found;
        bytes += entry.value()->record.size();
        if (found > row.entry_count || bytes > part.part->pack().body_size()) {
            throw Failure(kExitFailure, "{}: several of its entries are in one place",
                          part.subject.identifier);
        }
        visit(slot, std::move(*entry.value()));
    }
    return row.entry_count - found;
}

Words order_of(const PackPart &part) {
    std::vector<bool> is_seen(part.row().slot_count());
    Words keys;
    for (const std::uint32_t slot : part.order()) {
        auto entry = part.look_at(slot);
        if (!entry.ok() || !entry.value() || is_seen[slot]) continue;
        is_seen[slot] = true;
        keys.push_back(std::move(entry.value()->key));
    }
    return keys;
}

void require_known(const OpenPack &pack) {
    if (pack.parts.size() != pack.pack->rows().size()) {
        throw Failure(kExitFailure, "{} has parts that this version of Cairn does not know",
                      pack.path);
    }
    if (pack.parts.empty()) throw Failure(kExitFailure, "{} has no parts", pack.path);
    for (const OpenPart &part : pack.parts) {
        const auto found = pack.pack->find_part(part.part->row().identity);
        if (found != static_cast<std::size_t>(&part - pack.parts.data())) {
            throw Failure(kExitFailure, "{} has two parts of {}, of which one counts", pack.path,
                          part.subject.identifier);
        }
    }
}

const char *name_of(PackKind kind) {
    return kind == PackKind::entries ? "entries" : "driver files";
}

std::string signer_text(const OpenPack &pack) {
    const auto trailer = read_trailer(pack.pack->file(), pack.path);
    if (!trailer) return "not signed";
    const std::string print = fingerprint(trailer->key);
    if (const auto name = revoked_name(trailer->key)) {
        return fmt::format("signed by {}, whose key you revoked ({})", *name, print);
    }
    if (const auto name = trusted_name(trailer->key)) {
        return fmt::format("signed by {}, whom you trust ({})", *name, print);
    }
    return fmt::format("signed by a key that you do not trust ({})", print);
}

NewFile::NewFile(const std::string &path, Reader reader) : path_(path), reader_(reader) {
    const fs::path full = fs::path(path);
    folder_path_ = full.parent_path().empty() ? "." : full.parent_path().string();
    const std::string &folder = folder_path_;
    name_ = full.filename().string();
    unfinished_ = unfinished_beginning(name_) + std::to_string(process_number());
    unfinished_ += kUnfinishedEnd;
    auto opened = Directory::working().open_directory(folder);
    if (!opened.ok()) {
        throw Failure(kExitFailure, "cannot write to {}: {}", folder, error_name(opened.error()));
    }
    folder_ = std::move(opened.value());
    const auto there = folder_.info(name_);
    if (name_.empty() || (there.ok() && !there->is_file)) {
        throw Failure(kExitFailure, "cannot write {}: it is no regular file", path);
    }
    remove_unfinished(folder_, name_);
    auto file = folder_.create_file(unfinished_);
    if (!file.ok()) {
        throw Failure(kExitFailure, "cannot write {}: {}", path, error_name(file.error()));
    }
    file_ = std::move(file.value());
    // A process that takes it for a dead one's in the moment before this removes it: then this one fails.
    (void)file_.try_lock(kLockedByte, LockKind::exclusive);
}

NewFile::~NewFile() {
    if (file_.valid()) (void)folder_.remove_file(unfinished_);
}

void NewFile::finish() {
    if (reader_ == Reader::everybody) {
        require_done(file_.make_readable(), "give " + path_ + " its permissions");
    } else {
        const mode_t mask = ::umask(0);
        ::umask(mask);
        std::error_code error;
        fs::permissions(unfinished_path(), fs::perms(0666 & ~mask), error);
    }
    require_done(file_.sync_data(), "write " + path_);
    is_finished_ = true;
}

void NewFile::commit() {
    if (!is_finished_) finish();
    require_done(folder_.rename(unfinished_, name_), "write " + path_);
    file_ = File();
    (void)folder_.sync();
}

void remove_unfinished(const Directory &folder, const std::string &name) {
    Words unfinished;
    (void)folder.list([&](const char *file) {
        if (is_unfinished(file, name)) unfinished.emplace_back(file);
    });
    for (const std::string &each : unfinished) {
        const auto file = folder.open_file(each, Access::read_write);
        if (!file.ok()) continue;
        const auto lock = file->try_lock(kLockedByte, LockKind::exclusive);
        if (lock.ok() && lock.value()) (void)folder.remove_file(each);
    }
}

void require_done(Status status, const std::string &what) {
    if (!status.ok())
        throw Failure(kExitFailure, "cannot {}: {}", what, error_name(status.error()));
}

Words installed_packs(const std::string &folder) {
    Words paths;
    std::error_code error;
    for (const auto &below : fs::directory_iterator(folder, error)) {
        if (!below.is_directory(error)) continue;
        const Words packs = paths_in(below.path().string(), ".pack");
        paths.insert(paths.end(), packs.begin(), packs.end());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

Words system_folders() {
    Words folders;
    for (std::string folder : pack_folders("/nowhere", "x")) {
        // The folders of a cache `x`; the application's own and the user's are no system's.
        if (folder.ends_with("/cairn-packs") || folder == "/nowhere/.packs/x") continue;
        folder.resize(folder.size() - 2);
        while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
        folders.push_back(folder);
    }
    return folders;
}

Words install_folders(const std::string &root) {
    Words folders = system_folders();
    folders.insert(folders.begin(), root + "/.packs");
    return folders;
}

}  // namespace cairn::cli
