// SPDX-License-Identifier: MIT
// The player behind `cairn warm` as a process of its own, on Mesa's software driver, without a front end.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "base/bytes.h"
#include "recipe/player.h"

namespace gl_test {

using namespace cairn;

inline std::string framed(const std::string &message) {
    std::array<std::byte, 4> head = {};
    put_le(MutableBytes(head), 0, static_cast<std::uint32_t>(message.size()));
    return std::string(reinterpret_cast<const char *>(head.data()), head.size()) + message;
}

class Player {
  public:
    // The driver keeps machine code in this folder; "": nowhere.
    explicit Player(const std::string &cache = "") {
        std::array<int, 2> in = {}, out = {};
        words_ = memfd_create("words", MFD_CLOEXEC);
        if (words_ < 0) std::abort();
        if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) std::abort();
        pid_ = fork();
        if (pid_ == 0) {
            dup2(in[0], STDIN_FILENO);
            dup2(out[1], STDOUT_FILENO);
            dup2(words_, STDERR_FILENO);
            setenv("MESA_DEBUG", "1", 1);
            setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
            setenv("MESA_SHADER_CACHE_DISABLE", cache.empty() ? "true" : "false", 1);
            setenv("MESA_SHADER_CACHE_DIR", cache.c_str(), cache.empty() ? 0 : 1);
            unsetenv("DISPLAY");
            unsetenv("WAYLAND_DISPLAY");
            execl(CAIRN_PLAYER, CAIRN_PLAYER, nullptr);
            _exit(96);
        }
        close(in[0]);
        close(out[1]);
        input_ = in[1];
        output_ = out[0];
    }
    Player(const Player &) = delete;
    Player &operator=(const Player &) = delete;
    ~Player() {
        close_input();
        close(output_);
        close(words_);
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
    }

    void write(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t count = ::write(input_, bytes.data(), bytes.size());
            if (count <= 0) return;  // it has ended
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
    }
    void close_input() {
        if (input_ >= 0) close(input_);
        input_ = -1;
    }
    std::optional<std::string> read() const {
        std::string head(4, '\0');
        if (!read_all(head)) return std::nullopt;
        std::string message(get_le<std::uint32_t>(as_bytes(head), 0), '\0');
        return read_all(message) ? std::optional(message) : std::nullopt;
    }
    std::optional<recipe::Ready> open_context(const recipe::ContextKind &context) const {
        write(framed(recipe::encode(context)));
        const auto answer = read();
        return answer ? recipe::decode_ready(as_bytes(*answer)) : std::nullopt;
    }
    std::optional<recipe::Done> work(const recipe::Work &work) const {
        write(framed(recipe::encode(work)));
        const auto answer = read();
        return answer ? recipe::decode_done(as_bytes(*answer)) : std::nullopt;
    }
    // What the driver has said of calls with errors since it was asked last.
    std::string complaints() {
        std::string all, line;
        std::array<char, 4096> part;
        for (ssize_t count; (count = pread(words_, part.data(), part.size(), read_)) > 0;) {
            all.append(part.data(), static_cast<std::size_t>(count));
            read_ += count;
        }
        std::string complaints;
        for (std::istringstream lines(all); std::getline(lines, line);) {
            if (line.find("User error") != std::string::npos) complaints += line + "\n";
        }
        return complaints;
    }
    // 1000 + n where signal n ended it.
    int wait() {
        int status = 0;
        for (int i = 0; i < 3000; ++i) {
            if (waitpid(pid_, &status, WNOHANG) == pid_) {
                pid_ = -1;
                return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return 2000;
    }

  private:
    bool read_all(std::string &bytes) const {
        for (std::size_t done = 0; done < bytes.size();) {
            pollfd wait = {output_, POLLIN, 0};
            if (poll(&wait, 1, 60'000) != 1) return false;
            const ssize_t count = ::read(output_, bytes.data() + done, bytes.size() - done);
            if (count <= 0) return false;
            done += static_cast<std::size_t>(count);
        }
        return true;
    }

    pid_t pid_ = -1;
    int input_ = -1, output_ = -1;
    int words_ = -1;  // all that the player and its driver write to standard error
    off_t read_ = 0;
};

}  // namespace gl_test
