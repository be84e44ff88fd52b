// The system's answers about the user, the time and chance.
// SPDX-License-Identifier: MIT
//
// Thread safety: all may be called from any thread; the environment is read when a function says
// so.
#pragma once

#include <cstdint>
#include <ctime>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"

namespace cairn {

// The default root of all caches: $CAIRN_DIR, $XDG_CACHE_HOME/cairn, $HOME/.cache/cairn or the same
// below the home directory of the user database; nullopt when the user has none. Reads the
// environment.
std::optional<std::string> default_root();

// Where a broker listens: $CAIRN_BROKER or $XDG_RUNTIME_DIR/cairn/broker.sock; nullopt when neither
// is set. Reads the environment.
std::optional<std::string> default_broker_socket();
// Where the user's agent listens: $XDG_RUNTIME_DIR/cairn/agent.sock; nullopt when it is not set.
// Reads the environment.
std::optional<std::string> default_agent_socket();
// Where it answers questions: agent-ask.sock beside it. Reads the environment.
std::optional<std::string> default_question_socket();

// A directory of the XDG base directory specification: $VARIABLE, or what is below the home
// directory instead, such as "/.cache"; nullopt when the user has none. Reads the environment.
std::optional<std::string> xdg_directory(const char *variable, const char *below_home);
// $HOME or the home directory of the user database.
std::optional<std::string> home_directory();

// A variable of the environment; nullopt where it is not set, or the program runs with another
// user's rights.
std::optional<std::string> environment_variable(const char *name);

// The same of an absolute path. The XDG base directory specification says to ignore others.
std::optional<std::string> path_from_environment(const char *name);

// All variables, as NAME=value, where they lie.
std::vector<std::string_view> environment_variables();

// Variables that are in the environment for as long as somebody is inside: for the time of a call to
// a library that asks for them. Lives for ever, as other threads may have pointers to the strings.
//
// The environment gets another array, with the same strings and these, and then the old one back.
// Nothing is freed that another thread's getenv() may be reading. What others set or remove
// meanwhile holds afterwards. Threads may be inside at once; a process forked meanwhile by another
// thread has the variables for good.
class TemporaryVariables {
  public:
    // As NAME=value, in place of others of these names.
    explicit TemporaryVariables(std::vector<std::string> variables);
    TemporaryVariables(const TemporaryVariables &) = delete;
    TemporaryVariables &operator=(const TemporaryVariables &) = delete;

    void enter();
    void leave();

  private:
    // The environment as it was found, and with the variables.
    struct Arrays {
        char **before = nullptr;
        std::vector<char *> own;       // what `environ` is set to, which others may change
        std::vector<char *> expected;  // the same, unless they do
    };
    bool is_replaced(std::string_view text) const;
    std::vector<char *> with_variables() const;
    void take_out() REQUIRES_LOCK(mutex_);

    std::vector<std::string> variables_;
    Mutex mutex_;
    std::size_t inside_ GUARDED_BY(mutex_) = 0;
    // The last is the present one. All others may still be read.
    std::deque<Arrays> arrays_ GUARDED_BY(mutex_);
};

// Empty where it has no name.
std::string working_directory();

// The file that this process runs, without what the system says of one that was deleted; "" where
// that cannot be told.
std::string executable_path();

// The user whose files we may trust: the effective one.
std::uint32_t effective_user();

// A time of the system's in nanoseconds.
std::uint64_t ns_of(const timespec &time);
// Nanoseconds since 1970 by a clock that people may set.
std::uint64_t wall_clock_ns();
// The same to a few milliseconds, and cheaper.
std::uint64_t coarse_wall_clock_ns();
// Nanoseconds by a clock that only goes forward.
std::uint64_t monotonic_ns();
// The same to a few milliseconds, and cheaper than a look at memory that is not in the cache.
std::uint64_t coarse_monotonic_ns();
void sleep_us(unsigned microseconds);

// A number that is another after each start of the system; 0 when it cannot be read.
std::uint64_t boot_number();

// Of this process: another one in a forked child, also where the kernel gives it the number of a
// process that is gone. The low half is the kernel's number. Costs a load.
std::uint64_t process_number();

// Unpredictable bytes.
void random_bytes(MutableBytes out);

}  // namespace cairn
