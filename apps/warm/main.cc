// SPDX-License-Identifier: MIT
// The program cairn-warm, which `cairn warm` starts: it makes programs from recipes, and draws with
// them. recipe/player.h says what comes in by standard input, and what goes out.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "display.h"
#include "program.h"
#include "recipe/player.h"
#include "sandbox.h"
#include "state.h"

namespace cairn::warm {
namespace {

constexpr int kExitOk = 0, kExitFailure = 1, kExitUsage = 2;

// Whole, or as much as there is.
size_t read_all(int fd, void *data, size_t size) {
    size_t done = 0;
    while (done < size) {
        const ssize_t count = ::read(fd, static_cast<char *>(data) + done, size - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        done += static_cast<size_t>(count);
    }
    return done;
}

// A message; nothing at the end, or where it is none.
std::optional<std::string> read_message(bool &is_end) {
    std::array<std::byte, 4> head = {};
    const size_t read = read_all(STDIN_FILENO, head.data(), head.size());
    is_end = read == 0;
    if (read != head.size()) return std::nullopt;
    const auto size = get_le<uint32_t>(head, 0);
    if (size > recipe::kMessageMax) return std::nullopt;
    std::string message(size, '\0');
    if (read_all(STDIN_FILENO, message.data(), size) != size) return std::nullopt;
    return message;
}

// False: nobody reads any more.
bool write_message(int fd, const std::string &message) {
    std::array<std::byte, 4> head = {};
    put_le(MutableBytes(head), 0, static_cast<uint32_t>(message.size()));
    const std::string all =
        std::string(reinterpret_cast<const char *>(head.data()), head.size()) + message;
    for (size_t done = 0; done < all.size();) {
        const ssize_t count = ::write(fd, all.data() + done, all.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        done += static_cast<size_t>(count);
    }
    return true;
}

// What drivers print is no message.
int take_standard_output() {
    const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    return output;
}

// Mesa knows some applications by the name that they were called by.
void take_invocation_name() {
    const char *name = std::getenv(recipe::kWarmInvocationVariable);
    if (name != nullptr && *name != '\0') program_invocation_name = ::strdup(name);
}

// Draws with a program that nothing was drawn with before. It comes from the cache, as at the
// application's next start. Mesa changes a program while it makes machine code of it, and gives what it
// makes after that other names: names that a start does not look for that finds the first piece.
bool draw_anew(Painter &painter, const recipe::Work &work, const recipe::DrawState &state) {
    const Made made = make_program(work.program, work.sources);
    const bool is_drawn = made.program != 0 && painter.draw(made.program, state);
    gl.UseProgram(0);
    gl.DeleteProgram(made.program);
    return is_drawn;
}

recipe::Done work(Painter &painter, const recipe::Work &work) {
    recipe::Done done;
    const Made made = make_program(work.program, work.sources);
    if (made.program == 0) {
        const auto outcome = lacks_memory() ? recipe::Outcome::lacking : recipe::Outcome::refused;
        done.outcome = static_cast<uint32_t>(outcome);
        done.problem = made.problem.substr(0, 256);
        done.skipped = static_cast<uint32_t>(work.states.size());
        return done;
    }
    gl.DeleteProgram(made.program);
    for (const recipe::DrawState &state : work.states) {
        bool is_drawn = true;
        for (const recipe::DrawState &way : ways_to_draw(state)) {
            is_drawn = is_drawn && draw_anew(painter, work, way);
        }
        ++(is_drawn ? done.drawn : done.skipped);
    }
    gl.Finish();
    return done;
}

// `problem`: what this process was not shut in from.
int play(int output, const std::string &problem) {
    bool is_end = false;
    const auto first = read_message(is_end);
    if (is_end) return kExitOk;
    const auto kind = first ? recipe::decode_context(as_bytes(*first)) : std::nullopt;
    if (!kind) return kExitFailure;
    Display display;
    recipe::Ready ready;
    ready.problem = display.open(*kind);
    ready.is_ready = ready.problem.empty() ? 1 : 0;
    if (ready.is_ready != 0) {
        ready.cache = display.cache();
        const std::string more = shut_in_further(folders_of_caches(ready.cache));
        ready.problem = problem.empty() ? more : problem;
    }
    if (!write_message(output, recipe::encode(ready)) || ready.is_ready == 0) return kExitFailure;
    Painter painter(display);
    for (;;) {
        const auto message = read_message(is_end);
        if (is_end) return kExitOk;
        const auto next = message ? recipe::decode_work(as_bytes(*message)) : std::nullopt;
        if (!next || !write_message(output, recipe::encode(work(painter, *next)))) {
            return kExitFailure;
        }
    }
}

}  // namespace
}  // namespace cairn::warm

int main(int argc, char **) {
    using namespace cairn;
    using namespace cairn::warm;
    if (argc > 1 || ::isatty(STDIN_FILENO) != 0) {
        std::fputs("cairn-warm is started by `cairn warm`, which says what to make.\n", stderr);
        return kExitUsage;
    }
    const int output = take_standard_output();
    take_invocation_name();
    return play(output, shut_in(writable_folders()));
}
