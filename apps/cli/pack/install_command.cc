// SPDX-License-Identifier: MIT
// `cairn pack install` and `cairn pack remove`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "caches.h"
#include "keys.h"
#include "os/root.h"
#include "output.h"
#include "pack/commands.h"
#include "pack/install_folder.h"
#include "pack/verify.h"
#include "packs.h"
#include "session.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kInstallFooter =
    R"(A PACK IS CODE. Drivers run what is in it, as you, in every application that it is for. So it must be signed by a key
that you trust (`cairn key trust`). Install one with --unsigned only if you would run a program from the same place.

All of the pack is verified first. It is copied, for each application in it, to DIR/.packs/APPLICATION/FILE, or with
--system to /var/lib/cairn/packs/APPLICATION/FILE. One of the same name is replaced; running applications go on with the
old one.

Examples:
  cairn pack install game.pack
  cairn pack install --unsigned game.pack
  sudo cairn pack install --unsigned --system kiosk.pack

Exit codes: 0 installed, 1 it is damaged, not trusted or cannot be written, 2 wrong usage.)";

struct Options {
    std::string file;
    bool is_unsigned = false;
    bool is_system = false;
};

// REQUIRES: a KeysLock, until the pack is installed.
void require_trust(const OpenPack &copy, const Options &options) {
    if (options.is_unsigned) return;
    const auto signer = signer_of(copy.pack->file(), options.file);
    if (signer && trusted_name(*signer)) return;
    const bool has_trailer = read_trailer(copy.pack->file(), options.file).has_value();
    throw Failure(
        kExitFailure, "{} is {}; if you would run a program from the same place, {}--unsigned",
        options.file,
        signer        ? signer_text(copy)
        : has_trailer ? "not what was signed: it was changed"
                      : "not signed",
        signer && !revoked_name(*signer) ? "trust the key (`cairn key trust`), or say " : "say ");
}

// What lies in a copy that nobody else can change is what is verified and trusted.
void require_whole(const OpenPack &copy, const Options &options) {
    require_trust(copy, options);
    const Words damages = damages_of(copy);
    if (!damages.empty()) {
        throw Failure(kExitFailure, "{} is damaged: {}", options.file, damages.front());
    }
}

// A pack for one application, which is installed by commit(), or gone.
class Copy {
  public:
    Copy(const std::string &top, const std::string &name, const std::string &file_name,
         InstallFor whom)
        : folder_(top, name, whom),
          path_(folder_.path() + "/" + file_name),
          file_(path_, NewFile::Reader::everybody) {}

    const std::string &path() const { return path_; }
    void fill(const Pack &pack, const Options &options);
    void commit() { file_.commit(); }

  private:
    const InstallFolder folder_;
    const std::string path_;
    NewFile file_;
};

void Copy::fill(const Pack &pack, const Options &options) {
    std::vector<std::byte> piece(1u << 20);
    const std::uint64_t size = pack.info().size_bytes;
    Progress progress("Copying", size);
    for (std::uint64_t at = 0; at < size;) {
        const auto got = pack.file().read_at(at, piece);
        if (!got.ok() || got.value() == 0) throw Failure(kExitFailure, "the pack cannot be read");
        const Bytes bytes = Bytes(piece).first(got.value());
        require_done(file_.file().write_at(at, std::span(&bytes, 1)), "write " + path_);
        at += bytes.size();
        progress.add(bytes.size());
    }
    require_whole(open_pack(file_.unfinished_path()), options);
    file_.finish();
}

// Where `--system` installs.
std::string system_folder() {
    const Words folders = system_folders();
    if (folders.empty()) {
        throw Failure(kExitUsage,
                      "CAIRN_PACKS names no folder; write absolute paths, with colons "
                      "between them");
    }
    return folders.back();
}

int install(const Options &options) {
    const OpenPack pack = open_pack(options.file);
    require_known(pack);
    const std::string file_name = fs::path(options.file).filename().string();
    if (!file_name.ends_with(".pack") || file_name.starts_with('.')) {
        throw Failure(kExitFailure, "{}: the name of a pack ends in .pack", options.file);
    }
    std::string top;
    if (options.is_system) {
        top = system_folder();
    } else {
        const std::string root = usable_root();
        (void)open_root(root, Create::yes, Log());
        top = root + "/.packs";
    }
    if (options.is_unsigned) {
        complain("{} is not checked for a signature: drivers will run what is in it as you",
                 options.file);
    }
    const KeysLock keys_lock(KeysUse::read);
    const auto whom = options.is_system ? InstallFor::system : InstallFor::user;
    make_pack_folder(top, whom);
    const FolderLock folder_lock(top);
    // All copies are there before the first one counts: a full disk changes nothing.
    std::map<std::string, Copy> copies;
    for (const OpenPart &part : pack.parts) {
        const std::string name = part.name();
        const auto [copy, is_new] = copies.try_emplace(name, top, name, file_name, whom);
        if (is_new) copy->second.fill(*pack.pack, options);
    }
    for (auto &[name, copy] : copies) {
        copy.commit();
        say(fmt::format("Installed {} for {}", copy.path(), application_name(name)));
    }
    return kExitOk;
}

Run define_install(Arguments &take) {
    auto options = std::make_shared<Options>();
    take.required("FILE", options->file, "A pack");
    take.flag("--unsigned", options->is_unsigned,
              "Install it without a signature of a key that you trust");
    take.flag("--system", options->is_system, "For all users of this machine");
    take.dir();
    take.quiet();
    return [options] { return install(*options); };
}

constexpr const char *kRemoveFooter =
    R"(Running applications go on with what they have open. Packs below DIR are removed, or with --system those in
/var/lib/cairn/packs.

Examples:
  cairn pack remove game.pack       one pack, wherever it is installed
  cairn pack remove gl-game         all packs that are installed for an application
  sudo cairn pack remove --system kiosk.pack

Exit codes: 0 removed, 1 there is none, or it cannot be removed, 2 wrong usage.)";

bool is_meant(const fs::path &path, const std::string &name) {
    const std::string application = path.parent_path().filename().string();
    return path.string() == name || path.filename() == name || path.stem() == name ||
           application == name || application_name(application) == name;
}

int remove(const std::string &name, bool is_system) {
    const std::string folder = is_system ? system_folder() : resolve_root() + "/.packs";
    std::size_t removed = 0;
    std::error_code error;
    std::optional<FolderLock> lock;
    if (fs::is_directory(folder, error)) lock.emplace(folder);
    for (const std::string &path : installed_packs(folder)) {
        if (!is_meant(path, name)) continue;
        remove_pack(path);
        // Where it is empty.
        (void)Directory::working().remove_directory(fs::path(path).parent_path());
        say("Removed " + path);
        ++removed;
    }
    if (removed == 0) {
        throw Failure(kExitFailure, "no pack `{}` is installed in {}; `cairn pack ls` lists all",
                      name, folder);
    }
    return kExitOk;
}

Run define_remove(Arguments &take) {
    auto options = std::make_shared<Options>();
    take.required("NAME", options->file, "A pack's file name, or an application");
    take.flag("--system", options->is_system, "Those that are for all users of this machine");
    take.dir();
    take.quiet();
    return [options] { return remove(options->file, options->is_system); };
}

}  // namespace

const Command pack_install_command = {"install", "Install a pack, so that starts find it",
                                      kInstallFooter, define_install};
const Command pack_remove_command = {"remove", "Remove installed packs", kRemoveFooter,
                                     define_remove};

}  // namespace cairn::cli
