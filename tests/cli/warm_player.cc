// SPDX-License-Identifier: MIT
// A player for tests of `cairn warm`: it makes nothing, and does what the first source of a program tells
// it. It writes the source into the file WARM_TEST_LOG before, names the cache WARM_TEST_CACHE in its
// Ready, begins as WARM_TEST_READY says, and ends as WARM_TEST_END does.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "recipe/player.h"

namespace {

using namespace cairn;

std::string setting(const char *name) {
    const char *value = std::getenv(name);
    return value == nullptr ? "" : value;
}

[[noreturn]] void hang() {
    for (;;) ::pause();
}

[[noreturn]] void end() {
    const std::string how = setting("WARM_TEST_END");
    if (how == "silent") hang();
    std::_Exit(how == "fail" ? 1 : 0);
}

void read_all(char *bytes, std::size_t size) {
    while (size > 0) {
        const ssize_t count = ::read(STDIN_FILENO, bytes, size);
        if (count <= 0) end();
        bytes += count;
        size -= static_cast<std::size_t>(count);
    }
}

std::string read_message() {
    std::array<char, 4> head = {};
    read_all(head.data(), head.size());
    std::string message(get_le<std::uint32_t>(as_bytes(std::string_view(head.data(), 4)), 0), '\0');
    read_all(message.data(), message.size());
    return message;
}

void write_all(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (count <= 0) std::_Exit(1);
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

void write_message(std::string_view message) {
    std::array<std::byte, 4> head = {};
    put_le(MutableBytes(head), 0, static_cast<std::uint32_t>(message.size()));
    write_all({reinterpret_cast<const char *>(head.data()), head.size()});
    write_all(message);
}

void note(const std::string &what) {
    const int file = ::open(setting("WARM_TEST_LOG").c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
    const std::string line = what + "\n";
    if (::write(file, line.data(), line.size()) < 0) std::_Exit(1);
    ::close(file);
}

void begin() {
    (void)read_message();
    const std::string how = setting("WARM_TEST_READY");
    if (how == "silent") hang();
    if (how == "crash") ::raise(SIGKILL);
    if (how == "refuse") {
        write_message(encode(recipe::Ready{0, "", "there is no such context"}));
    } else {
        write_message(encode(recipe::Ready{1, setting("WARM_TEST_CACHE"), ""}));
    }
}

void work() {
    const auto work = recipe::decode_work(as_bytes(read_message()));
    if (!work || work->sources.empty() || work->sources[0].empty()) std::_Exit(1);
    const std::string &what = work->sources[0][0];
    note(what);
    recipe::Done done;
    done.drawn = static_cast<std::uint32_t>(work->states.size());
    if (what.starts_with("crash")) ::raise(SIGKILL);
    if (what.starts_with("hang")) hang();
    if (what.starts_with("huge")) return write_all("\xff\xff\xff\xff");
    if (what.starts_with("nonsense")) return write_message("nonsense");
    if (what.starts_with("slow")) ::usleep(20'000);
    if (what.starts_with("refuse")) {
        done.outcome = static_cast<std::uint32_t>(recipe::Outcome::refused);
    }
    if (what.starts_with("lacking")) {
        done.outcome = static_cast<std::uint32_t>(recipe::Outcome::lacking);
    }
    if (what.starts_with("undrawn")) std::swap(done.drawn, done.skipped);
    done.problem = "as it was told";
    write_message(encode(done));
}

}  // namespace

int main() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    begin();
    for (;;) work();
}
