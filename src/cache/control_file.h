// The kinds of caches, and the file that says which are switched off, and how often each was
// cleared, shared by all processes: docs/formats/control.md.
// SPDX-License-Identifier: MIT
//
// Everything is one atomic word of a shared mapping: a process may be killed anywhere, any number
// of them may change it at once, and there is nothing to lock and nothing to mend. The file may be
// deleted and made anew at any time. A mapping that was replaced stays until the end, as a
// thread may be reading in it.
//
// Thread safety: any thread. A forked child may go on using it.
// Failure: what cannot be read is a file in which everything is enabled.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "os/file.h"
#include "os/mapping.h"
#include "os/root.h"

namespace cairn {

inline constexpr const char *kControlFileName = ".control";
inline constexpr std::size_t kControlFileSize = 64;

// The kinds have the values of D3D12_SHADER_CACHE_KIND_FLAGS.
enum Kind : std::uint32_t {
    kind_none = 0x0,
    kind_cache_for_driver = 0x1,
    kind_conversions = 0x2,
    kind_driver_managed = 0x4,
    kind_application_managed = 0x8,
};
inline constexpr unsigned kKindCount = 4;
inline constexpr std::uint32_t kAllKinds = (1u << kKindCount) - 1;

Kind kind_of_identifier(std::string_view identifier);

// The word that says that these kinds are disabled, and what a word says: nothing is disabled by
// one that encode_state() never gives.
constexpr std::uint64_t encode_state(std::uint32_t disabled) {
    constexpr std::uint64_t kMark = 0xC017201CA112u;
    return disabled == 0 ? 0 : kMark << 16 | std::uint64_t{disabled & kAllKinds} * 0x1111;
}
constexpr std::uint32_t decode_state(std::uint64_t word) {
    const auto disabled = static_cast<std::uint32_t>(word & kAllKinds);
    return word == encode_state(disabled) ? disabled : 0;
}

class ControlFile {
  public:
    // With Create::yes the root and the file are made where they are missing.
    ControlFile(std::string root, Create create, const Log &log);
    ControlFile(const ControlFile &) = delete;
    ControlFile &operator=(const ControlFile &) = delete;

    const std::string &root() const { return root_; }

    // The kinds that are disabled, one bit each. Looks at the file's name every tenth of a second.
    std::uint32_t disabled() const;
    // Grows with each clearing of this kind, and when the file is another one.
    std::uint64_t clears(Kind kind) const;

    // Disables and enables kinds; returns those that were so before. The file is made where it is
    // missing. Errors as open_root(), and those of making and mapping the file.
    Result<std::uint32_t> set(std::uint32_t disable, std::uint32_t enable);
    // Counts a clearing of these kinds.
    Status count_clears(std::uint32_t kinds);

  private:
    // A mapped file. Constant after construction but for the words in it.
    struct View {
        Mapping mapping;
        std::uint64_t inode = 0;
        std::uint64_t device = 0;
        std::uint64_t epoch = 0;  // how many files were seen before this one

        std::atomic_ref<std::uint64_t> word(std::size_t index) const;
    };

    static Result<View> map(const File &file, Access access);
    Result<File> open_for_change() const;
    Status follow(View view) const REQUIRES_LOCK(looking_);
    void look_if_due() const;
    // False: another thread is at it.
    bool look() const;
    template <typename Change>
    Status change(Change change);

    const std::string root_;
    const std::string path_;
    const Log log_;

    // The view in use, or null: the last of views_.
    mutable std::atomic<const View *> view_ = nullptr;
    mutable std::atomic<std::uint64_t> next_look_ns_ = 0;
    mutable TryMutex looking_;
    mutable std::vector<std::unique_ptr<View>> views_ GUARDED_BY(looking_);
};

}  // namespace cairn
