// What the commands of `cairn pack` share: packs as files, and where they are installed.
// SPDX-License-Identifier: MIT
//
// Thread safety: used by main only.
// Failure: a Failure that names the file and the reason.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "os/file.h"
#include "pack/pack_reader.h"
#include "pack/pack_writer.h"
#include "text.h"

namespace cairn::cli {

// A part of a pack with what its text says of it.
struct OpenPart {
    std::unique_ptr<PackPart> part;
    std::unique_ptr<const std::string> text;  // the views of `subject` are of it
    PackSubject subject;                      // what it is of
    std::string application;                  // of a program cache; else empty

    // By which name packs of it are installed: see cache/layers.h.
    std::string name() const;
    // For people: the first line about the driver, or "".
    std::string about() const;
};

struct OpenPack {
    std::string path;
    std::shared_ptr<const Pack> pack;
    std::vector<OpenPart> parts;  // of kinds that are known
};

// A Failure where it is no pack, or a text of it is damaged.
OpenPack open_pack(const std::string &path);
// Calls `visit` with each entry of a part, as its record says it, in no order. Returns how many that are
// said to be there were not found. A Failure for a part that says of itself what cannot be: memory does
// not grow beyond what the file has.
std::uint64_t visit_entries(
    const OpenPart &part,
    const std::function<void(std::uint32_t slot, PackPart::Entry entry)> &visit);
// The keys of a part's order.
Words order_of(const PackPart &part);
// A Failure where something of a pack could not be read by this version, or is not to be told apart.
void require_known(const OpenPack &pack);
// "entries" or "driver files".
const char *name_of(PackKind kind);

// Who signed a pack, in words, as its trailer says; the signature is not checked.
std::string signer_text(const OpenPack &pack);

// A file that gets its name when it is whole, and is gone where it never is. What a `cairn` that was
// killed has left in its place is removed when the next one makes it.
class NewFile {
  public:
    enum class Reader { as_the_umask_says, everybody };

    NewFile(const std::string &path, Reader reader);
    ~NewFile();
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;

    const File &file() const { return file_; }
    // By which it can be read already.
    std::string unfinished_path() const { return folder_path_ + "/" + unfinished_; }
    // Makes what was written durable, so that a full disk shows. Then it can be committed only.
    void finish();
    // Puts it, which is finished first, in place of what has the name, durably.
    void commit();

  private:
    const std::string path_;
    const Reader reader_;
    std::string folder_path_;
    Directory folder_;
    std::string name_, unfinished_;
    File file_;
    bool is_finished_ = false;
};

// Removes the unfinished files of this name, but for those that a running `cairn` is writing.
void remove_unfinished(const Directory &folder, const std::string &name);

// A Failure "cannot <what>: ..." for an error.
void require_done(Status status, const std::string &what);

// Each `*.pack` below a folder of installed packs, `FOLDER/NAME/FILE.pack`, sorted.
Words installed_packs(const std::string &folder);
// Those of the system, without slashes at their ends.
Words system_folders();
// The user's folder, and then the system's.
Words install_folders(const std::string &root);

}  // namespace cairn::cli
