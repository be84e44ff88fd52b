// SPDX-License-Identifier: MIT
// What `cairn doctor` can find, and what it has found.
//
// To add a finding: put it into CAIRN_FINDINGS below, add() it in the file of its group, and give it a
// row in docs/doctor.md and a test in tests/cli/doctor_*_test.cc. Tests fail where one is missing.
//
// Thread safety: used by main only.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::cli::doctor {

enum class Level {
    ok,       // it was looked at, and is as it should be
    note,     // good to know
    warning,  // something works less well, or not for all programs
    wrong,    // it keeps programs from being served
};
std::string_view level_name(Level level);

// Each has a name, which begins with its group, a level, and a clause that says why it matters.
#define CAIRN_FINDINGS(X)                                                                          \
    X(no_front_end, "installation.no-front-end", wrong, "no program can be served")                \
    X(front_end_broken, "installation.front-end-broken", wrong, "no EGL program is served")        \
    X(front_end_bits, "installation.front-end-bits", wrong, "the loader passes over it")           \
    X(no_last, "installation.no-last", warning,                                                    \
      "programs that open a device by EGL are not served")                                         \
    X(no_glx, "installation.no-glx", warning, "programs that use GLX are not served")              \
    X(glx_broken, "installation.glx-broken", wrong, "programs that use GLX are not served")        \
    X(no_32_bit, "installation.no-32-bit", note, "32-bit programs run as without Cairn")           \
    X(broken_32_bit, "installation.32-bit-broken", wrong, "32-bit programs are not served")        \
    X(versions_differ, "installation.versions-differ", wrong,                                      \
      "parts of two versions may not understand each other")                                       \
    X(library_differs, "installation.library-differs", warning,                                    \
      "engines that use libcairn get that version")                                                \
    X(parts_missing, "installation.parts-missing", note, "these commands do not work")             \
    X(no_egl, "glvnd.no-egl", wrong, "no EGL program can start")                                   \
    X(no_libglx, "glvnd.no-glx", warning, "programs that use GLX cannot start")                    \
    X(not_glvnd, "glvnd.not-glvnd", wrong, "only GLVND's libraries load Cairn's front ends")       \
    X(no_vendor, "glvnd.no-vendor", wrong, "there is no driver behind EGL")                        \
    X(no_glx_vendor, "glvnd.no-glx-vendor", warning, "there is no driver behind GLX")              \
    X(manifest_damaged, "glvnd.manifest-damaged", warning,                                         \
      "libEGL passes over it, or waits for it")                                                    \
    X(vendor_missing, "glvnd.vendor-missing", warning, "libEGL passes over this driver")           \
    X(vendor_unresolved, "glvnd.vendor-unresolved", warning, "the loader refuses this driver")     \
    X(left_out, "glvnd.left-out", wrong, "EGL programs of this session are not served")            \
    X(names_missing, "glvnd.names-missing", warning, "libEGL passes over it")                      \
    X(cairn_moved, "glvnd.cairn-moved", wrong, "EGL programs of this session are not served")      \
    X(glx_vendor_missing, "glvnd.glx-vendor-missing", warning,                                     \
      "libGLX takes the vendor that the X server names")                                           \
    X(own_libraries, "glvnd.own-libraries", warning,                                               \
      "programs that take them do not reach Cairn's front ends")                                   \
    X(preload, "glvnd.preload", note, "it stands before GLVND in each program")                    \
    X(preload_missing, "glvnd.preload-missing", note, "the loader complains in each program")      \
    X(session_off, "session.off", note, "only what `cairn run` starts is served")                  \
    X(log_in_again, "session.log-in-again", warning, "this session began before `cairn enable`")   \
    X(session_broken, "session.files-broken", wrong,                                               \
      "the next session does not get all that this file promises")                                 \
    X(cannot_load, "session.cannot-load", wrong, "programs of this session run without Cairn")     \
    X(session_stale, "session.stale", warning, "Cairn or your settings have changed since")        \
    X(not_read, "session.not-read", warning, "sessions of Wayland do not read ~/.xsessionrc")      \
    X(session_no_glx, "session.no-glx", warning, "programs that use GLX are not served")           \
    X(warm_off, "session.warm-off", note, "after an update of the driver, starts are cold once")   \
    X(unit_failed, "session.unit-failed", warning, "it does nothing until it is started again")    \
    X(agent_off, "session.agent-off", warning,                                                     \
      "nothing is shared, though `share = 1` asks for it")                                         \
    X(runtime_folder, "session.runtime-folder", warning, "neither agent nor broker is found")      \
    X(relative_folder, "session.relative-folder", warning, "a relative path counts for nothing")   \
    X(under_sudo, "session.sudo", warning, "all below is about root, not about you")               \
    X(unknown_variable, "environment.unknown", warning, "nothing reads it")                        \
    X(odd_value, "environment.value", warning, "it does not mean what it says")                    \
    X(disabled, "environment.disabled", wrong, "the front ends pass everything through")           \
    X(memory_only, "environment.memory-only", warning, "nothing is kept from start to start")      \
    X(relative_root, "environment.relative-root", wrong,                                           \
      "the library ignores it and uses another folder")                                            \
    X(packs_missing, "environment.packs-missing", warning, "no packs are found there")             \
    X(no_broker, "environment.no-broker", warning, "programs in sandboxes keep nothing")           \
    X(config_refused, "configuration.refused", wrong, "none of your settings holds")               \
    X(config_mistake, "configuration.mistake", warning, "the line counts for nothing")             \
    X(all_off, "configuration.all-off", wrong, "no application is served")                         \
    X(only_allowed, "configuration.only-allowed", note, "all other applications run uncached")     \
    X(record_off, "configuration.record-off", note,                                                \
      "`cairn why` and `cairn warm` have nothing to go by")                                        \
    X(limit_small, "configuration.limit-small", warning, "what does not fit is compiled again")    \
    X(no_place, "directories.no-place", wrong, "nothing can be kept")                              \
    X(root_refused, "directories.refused", wrong, "nothing is kept")                               \
    X(cannot_make, "directories.cannot-make", wrong, "nothing is kept")                            \
    X(not_writable, "directories.not-writable", wrong, "nothing new is kept")                      \
    X(disk_full, "directories.full", wrong, "nothing new is kept")                                 \
    X(no_inodes, "directories.no-inodes", wrong, "no new file can be made")                        \
    X(little_space, "directories.little-space", warning, "the disk is full before the limit is")   \
    X(temporary, "directories.temporary", note, "all is gone after a restart of the system")       \
    X(no_locks, "directories.no-locks", wrong, "processes cannot share a cache there")             \
    X(other_root, "directories.other-root", note, "these caches are not used")                     \
    X(caches_off, "caches.switched-off", wrong, "programs are neither looked up nor stored")       \
    X(kinds_off, "caches.kinds-off", warning, "what is of this kind is made anew each time")       \
    X(crashed, "caches.crashed", warning, "the application runs without Cairn")                    \
    X(cache_damaged, "caches.damaged", warning, "what is in it is not found until it is rebuilt")  \
    X(pack_refused, "caches.pack-refused", warning, "nothing of it is used")                       \
    X(pack_untrusted, "caches.pack-untrusted", warning, "drivers run what is in a pack")           \
    X(pack_other_driver, "caches.pack-other-driver", note, "programs are compiled all the same")   \
    X(few_files, "limits.files", warning, "a program may have no descriptor left for a cache")     \
    X(file_size, "limits.file-size", wrong, "caches cannot grow")                                  \
    X(address_space, "limits.memory", warning, "a cache may find no place to be mapped")           \
    X(flatpak, "sandbox.flatpak", warning, "it shows neither Cairn nor its variables")             \
    X(snap, "sandbox.snap", warning, "a snap sees neither Cairn nor its caches")                   \
    X(container, "sandbox.container", note, "caches go with the container")                        \
    X(other_tree, "sandbox.other-tree", note, "its files are not the system's")                    \
    X(seccomp, "sandbox.seccomp", note, "some system calls are refused")                           \
    X(no_user_namespaces, "sandbox.no-user-namespaces", note,                                      \
      "the broker cannot lend files that are read-only for sure")                                  \
    X(read_only_home, "sandbox.read-only-home", warning, "neither settings nor caches can change") \
    X(no_proc, "sandbox.no-proc", warning, "applications are known by less")                       \
    X(wsl, "sandbox.wsl", note, "drivers there translate to Direct3D")                             \
    X(no_gpu, "sandbox.no-gpu", note, "drivers draw with the processor")                           \
    X(no_device, "sandbox.no-device", warning, "drivers draw with the processor")                  \
    X(device_denied, "sandbox.device-denied", warning, "drivers draw with the processor")          \
    X(driver_offers, "driver.offers", ok, "")                                                      \
    X(driver_kept, "driver.kept", ok, "")                                                          \
    X(not_asked, "driver.not-asked", warning, "nobody knows what it offers")                       \
    X(driver_ends, "driver.ends", wrong, "it ends each program that uses it, without Cairn, too")  \
    X(driver_hangs, "driver.hangs", wrong, "programs wait for it for ever, without Cairn, too")    \
    X(no_context, "driver.no-context", wrong, "no program can draw by EGL")                        \
    X(no_binaries, "driver.no-binaries", wrong, "Cairn keeps only what the driver gives")          \
    X(software, "driver.software", note, "it draws with the processor")                            \
    X(own_cache, "driver.own-cache", note, "this is the driver's own cache, not Cairn's")          \
    X(front_end_ends, "driver.front-end-ends", wrong, "the driver alone does not")                 \
    X(not_in_front, "driver.not-in-front", wrong, "programs under `cairn run` are not served")     \
    X(not_kept, "driver.not-kept", wrong, "programs are compiled at each start")                   \
    X(no_x_server, "driver.no-x-server", warning, "programs that use GLX cannot start")            \
    X(no_glx_context, "driver.no-glx-context", warning, "programs that use GLX cannot draw")       \
    X(app_missing, "application.missing", wrong, "there is nothing to serve")                      \
    X(app_not_executable, "application.not-executable", wrong, "it cannot be started")             \
    X(app_served, "application.served", ok, "")                                                    \
    X(app_toolkit, "application.may-load", ok, "")                                                 \
    X(app_script, "application.script", note, "what it starts decides")                            \
    X(app_flatpak, "application.flatpak", warning, "Flatpak shows it neither Cairn nor its files") \
    X(app_snap, "application.snap", warning, "a snap sees neither Cairn nor its caches")           \
    X(app_image, "application.appimage", note, "it brings libraries of its own")                   \
    X(app_static, "application.static", wrong, "it loads no libraries, and so no front end")       \
    X(app_rights, "application.other-rights", wrong,                                               \
      "the loader ignores what names the front ends")                                              \
    X(app_32_bit, "application.32-bit", wrong, "it cannot load the 64-bit front ends")             \
    X(app_machine, "application.other-machine", wrong, "it cannot load the front ends")            \
    X(app_library, "application.library-missing", wrong, "it cannot start")                        \
    X(app_vulkan, "application.vulkan", warning,                                                   \
      "Vulkan is not covered; drivers cache by themselves")                                        \
    X(app_no_gl, "application.no-gl", note, "there may be nothing to cache")                       \
    X(app_own_gl, "application.own-gl", warning, "what it draws with may not reach GLVND")         \
    X(app_browser, "application.browser", note,                                                    \
      "it has its own cache of programs, and a sandbox around what draws")                         \
    X(app_off, "application.off", wrong, "it runs without Cairn")                                  \
    X(app_limit, "application.limit", note, "its caches stay below that")                          \
    X(app_runs, "application.runs", note, "`cairn why` says more")                                 \
    X(app_never_seen, "application.never-seen", note, "it has not linked a program through Cairn")

enum class Id {
#define CAIRN_FINDING(name, text, level, why) name,
    CAIRN_FINDINGS(CAIRN_FINDING)
#undef CAIRN_FINDING
};

struct Kind {
    const char *name;
    Level level;
    const char *why;  // a clause for people; empty of what is as it should be

    std::string_view group() const;
};
const Kind &kind_of(Id id);
std::span<const Kind> all_kinds();

struct Finding {
    Id id;
    std::string what;  // a clause
    std::string mend;  // a command, or what to do; empty: nothing need be done, or can be
};

// In the order in which they were found. There are no more than kOfOneMax of one kind: a hostile
// folder has no end of broken files.
class Findings {
  public:
    static constexpr std::size_t kOfOneMax = 12;

    void add(Id id, std::string what, std::string mend = "");
    const std::vector<Finding> &all() const { return findings_; }
    std::size_t count(Level level) const;
    bool has(Id id) const { return count(id) != 0; }

  private:
    std::size_t count(Id id) const;

    std::vector<Finding> findings_;
};

}  // namespace cairn::cli::doctor
