// SPDX-License-Identifier: MIT
#include "os/environment.h"

#include <pwd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "os/mapping.h"
#include "os/text_file.h"

namespace cairn {
namespace {

std::uint64_t clock_ns(clockid_t clock) {
    timespec now = {};
    ::clock_gettime(clock, &now);
    return ns_of(now);
}

std::optional<std::string> home_from_user_database() {
    passwd entry = {};
    passwd *found = nullptr;
    char buffer[4096];
    (void)::getpwuid_r(::geteuid(), &entry, buffer, sizeof buffer, &found);
    const bool has_home = found != nullptr && found->pw_dir != nullptr && found->pw_dir[0] == '/';
    return has_home ? std::optional<std::string>(found->pw_dir) : std::nullopt;
}

std::optional<std::string> runtime_path(const char *below) {
    auto path = path_from_environment("XDG_RUNTIME_DIR");
    if (path) path->append(below);
    return path;
}

// The number of this process, in a page that the kernel wipes in a forked child. Without such a
// page it is `no_word`. Constant initialisation, and no lock that a child might find held.
using Number = std::atomic<std::uint64_t>;
constinit Number no_word = 0;
constinit std::atomic<Number *> process_word = nullptr;
constinit Number generation = 0;  // copied by fork(): a child goes on counting from its parent's

Number *make_process_word() {
    auto page = Mapping::wiped_on_fork(sizeof(Number));
    Number *made = page.ok() ? reinterpret_cast<Number *>(page->data()) : &no_word;
    Number *other = nullptr;
    if (!process_word.compare_exchange_strong(other, made)) return other;
    if (page.ok()) page->release();
    return made;
}

}  // namespace

std::optional<std::string> default_root() {
    if (auto directory = path_from_environment("CAIRN_DIR")) return directory;
    auto cache = xdg_directory("XDG_CACHE_HOME", "/.cache");
    if (cache) cache->append("/cairn");
    return cache;
}

std::optional<std::string> default_broker_socket() {
    if (auto path = path_from_environment("CAIRN_BROKER")) return path;
    return runtime_path("/cairn/broker.sock");
}

std::optional<std::string> default_agent_socket() {
    return runtime_path("/cairn/agent.sock");
}

std::optional<std::string> default_question_socket() {
    return runtime_path("/cairn/agent-ask.sock");
}

std::optional<std::string> home_directory() {
    auto home = path_from_environment("HOME");
    return home ? home : home_from_user_database();
}

std::optional<std::string> xdg_directory(const char *variable, const char *below_home) {
    if (auto directory = path_from_environment(variable)) return directory;
    auto home = home_directory();
    if (home) home->append(below_home);
    return home;
}

std::optional<std::string> environment_variable(const char *name) {
    // The environment of a program that runs with another user's rights is not its own.
    const char *value = ::secure_getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<std::string> path_from_environment(const char *name) {
    auto value = environment_variable(name);
    return value && value->starts_with('/') ? value : std::nullopt;
}

std::vector<std::string_view> environment_variables() {
    std::vector<std::string_view> all;
    for (char **variable = ::environ; variable != nullptr && *variable != nullptr; ++variable) {
        all.emplace_back(*variable);
    }
    return all;
}

TemporaryVariables::TemporaryVariables(std::vector<std::string> variables)
    : variables_(std::move(variables)) {}

bool TemporaryVariables::is_replaced(std::string_view text) const {
    return std::any_of(variables_.begin(), variables_.end(), [&](std::string_view own) {
        return text.starts_with(own.substr(0, own.find('=') + 1));
    });
}

std::vector<char *> TemporaryVariables::with_variables() const {
    std::vector<char *> array;
    for (char **each = environ; each != nullptr && *each != nullptr; ++each) {
        if (!is_replaced(*each)) array.push_back(*each);
    }
    // getenv() hands out what is not constant, but nobody may change it.
    for (const std::string &text : variables_) array.push_back(const_cast<char *>(text.c_str()));
    array.push_back(nullptr);
    return array;
}

void TemporaryVariables::enter() {
    const MutexLock lock(mutex_);
    if (inside_ == 0) {
        std::vector<char *> array = with_variables();
        const bool is_known = !arrays_.empty() && arrays_.back().expected == array &&
                              arrays_.back().own == array && arrays_.back().before == environ;
        if (!is_known) arrays_.push_back({environ, array, array});
        __atomic_store_n(&environ, arrays_.back().own.data(), __ATOMIC_RELEASE);
    }
    ++inside_;
}

// setenv() has copied our array, or has changed it in place: another array has what it has, without
// ours. No function of the C library is asked to, which could free what others read.
void TemporaryVariables::take_out() {
    char **present = environ;
    std::vector<char *> array;
    bool has_ours = false;
    for (char **each = present; each != nullptr && *each != nullptr; ++each) {
        const bool is_ours =
            std::any_of(variables_.begin(), variables_.end(),
                        [&](const std::string &text) { return text.c_str() == *each; });
        has_ours |= is_ours;
        if (!is_ours) array.push_back(*each);
    }
    if (!has_ours) return;
    array.push_back(nullptr);
    arrays_.push_back({present, array, array});
    __atomic_compare_exchange_n(&environ, &present, arrays_.back().own.data(), false,
                                __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void TemporaryVariables::leave() {
    const MutexLock lock(mutex_);
    if (--inside_ != 0) return;
    Arrays &last = arrays_.back();
    char **ours = last.own.data();
    const bool is_restored = last.own == last.expected &&
                             __atomic_compare_exchange_n(&environ, &ours, last.before, false,
                                                         __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    if (!is_restored) take_out();
}

std::string working_directory() {
    std::array<char, PATH_MAX> name = {};
    return ::getcwd(name.data(), name.size()) == nullptr ? "" : name.data();
}

std::string executable_path() {
    constexpr std::string_view kDeleted = " (deleted)";
    std::array<char, PATH_MAX> path = {};
    const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
    std::string file(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    if (file.ends_with(kDeleted)) file.resize(file.size() - kDeleted.size());
    return file;
}

std::uint32_t effective_user() {
    return ::geteuid();
}

std::uint64_t ns_of(const timespec &time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t wall_clock_ns() {
    return clock_ns(CLOCK_REALTIME);
}

std::uint64_t coarse_wall_clock_ns() {
    return clock_ns(CLOCK_REALTIME_COARSE);
}

std::uint64_t monotonic_ns() {
    return clock_ns(CLOCK_MONOTONIC);
}

std::uint64_t coarse_monotonic_ns() {
    return clock_ns(CLOCK_MONOTONIC_COARSE);
}

void sleep_us(unsigned microseconds) {
    timespec left = {static_cast<time_t>(microseconds / 1'000'000),
                     static_cast<long>(microseconds % 1'000'000) * 1000};
    while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

std::uint64_t boot_number() {
    const auto text = read_text_file("/proc/sys/kernel/random/boot_id", 36);
    if (!text.ok()) return 0;
    std::uint64_t number = 0xCBF29CE484222325u;  // FNV-1a: random text needs no better
    for (const char octet : text.value()) {
        number = (number ^ static_cast<unsigned char>(octet)) * 0x100000001B3u;
    }
    return number;
}

std::uint64_t process_number() {
    Number *number = process_word.load(std::memory_order_acquire);
    if (number == nullptr) number = make_process_word();
    if (number == &no_word) return static_cast<std::uint64_t>(::getpid());
    const std::uint64_t now = number->load(std::memory_order_acquire);
    if (now != 0) return now;
    std::uint64_t other = 0;
    const std::uint64_t made = ++generation << 32 | static_cast<std::uint32_t>(::getpid());
    return number->compare_exchange_strong(other, made) ? made : other;
}

void random_bytes(MutableBytes out) {
    while (!out.empty()) {
        const ssize_t count = ::getrandom(out.data(), out.size(), 0);
        // getrandom cannot fail on a kernel we support; the clock keeps an unsupported one from
        // hanging.
        if (count <= 0) out[0] = static_cast<std::byte>(monotonic_ns() >> (out.size() % 8));
        out = out.subspan(count > 0 ? static_cast<std::size_t>(count) : 1);
    }
}

}  // namespace cairn
