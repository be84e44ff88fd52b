// SPDX-License-Identifier: MIT
// Converters that misbehave in every way do nobody else any harm.
#include "conversions/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>

#include "support/temp_directory.h"

namespace cairn::conversions {
namespace {

Converted run(const std::function<Converted(std::string_view)> &body, const Limits &limits = {},
              std::string_view input = "input") {
    const auto convert = [&](const Options &, std::string_view text) { return body(text); };
    const ShaderConverter misbehaving = {"misbehaving", "for tests", {}, nullptr, convert};
    return convert_in_child(misbehaving, {}, input, limits);
}

bool says(const Converted &result, const char *text) {
    return !result.ok && result.output.empty() && result.messages.find(text) != std::string::npos;
}

TEST(Sandbox, WhatIsConvertedComesBackAsItIs) {
    for (const std::size_t size : {0u, 1u, 65'536u, 3'000'000u}) {
        std::string bytes(size, '\0');
        for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7);
        const Converted result = run([&](std::string_view input) {
            return Converted{true, bytes, std::string(input)};
        });
        EXPECT_TRUE(result.ok);
        EXPECT_EQ(result.output, bytes);
        EXPECT_EQ(result.messages, "input");
    }
}

TEST(Sandbox, AFailureHasNoOutput) {
    const Converted result = run([](std::string_view) {
        return Converted{false, "half", "line 1: no\n"};
    });
    EXPECT_FALSE(result.ok);
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(result.messages, "line 1: no\n");
}

TEST(Sandbox, ACrashIsAFailureThatIsNamed) {
    EXPECT_TRUE(says(run([](std::string_view) -> Converted { std::abort(); }), "signal 6"));
    EXPECT_TRUE(says(run([](std::string_view) -> Converted {
                         ::signal(SIGSEGV, SIG_DFL);
                         ::raise(SIGSEGV);
                         return {};
                     }),
                     "signal 11"));
    EXPECT_TRUE(says(run([](std::string_view) -> Converted { ::_exit(0); }), "without an answer"));
    EXPECT_TRUE(says(run([](std::string_view) -> Converted { ::_exit(3); }), "without an answer"));
    EXPECT_TRUE(
        says(run([](std::string_view) -> Converted { throw std::runtime_error("no idea"); }),
             "no idea"));
    EXPECT_TRUE(says(run([](std::string_view) -> Converted { throw 7; }), "gave up"));
}

TEST(Sandbox, WhoNeverEndsIsEnded) {
    Limits limits;
    limits.seconds = 1;
    EXPECT_TRUE(says(run(
                         [](std::string_view) -> Converted {
                             for (std::atomic<int> i = 0;; ++i) {
                             }
                         },
                         limits),
                     "after 1 seconds"));
    EXPECT_TRUE(says(run(
                         [](std::string_view) -> Converted {
                             for (;;) ::pause();
                         },
                         limits),
                     "after 1 seconds"));
}

TEST(Sandbox, BoundsHold) {
    Limits limits;
    limits.input_bytes = 10;
    limits.output_bytes = 100;
    limits.messages_bytes = 20;
    const auto fill = [](std::size_t output, std::size_t messages) {
        return [=](std::string_view) {
            return Converted{true, std::string(output, 'o'), std::string(messages, 'm')};
        };
    };
    EXPECT_TRUE(run(fill(100, 20), limits).ok);
    EXPECT_TRUE(says(run(fill(1000, 0), limits), "larger than 100 bytes"));
    EXPECT_EQ(run(fill(1, 1000), limits).messages.size(), 20u);
    EXPECT_TRUE(says(run(fill(1, 1), limits, "eleven chars"), "input is larger than 10"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Sandbox, MemoryIsBounded) {
    Limits limits;
    limits.memory_bytes = std::size_t{512} << 20;
    EXPECT_FALSE(run(
                     [](std::string_view) {
                         return Converted{true, std::string(std::size_t{1} << 30, 'x'), ""};
                     },
                     limits)
                     .ok);
}
#endif

TEST(Sandbox, NoFileIsOpenedWrittenOrPrintedTo) {
    const cairn_test::TempDirectory scratch;
    const int open_here = ::open((scratch / "open").c_str(), O_RDWR | O_CREAT, 0600);
    const Converted result = run([&](std::string_view) {
        ::puts("on standard output");
        ::fflush(stdout);
        const bool writes = ::write(open_here, "x", 1) == 1;
        const bool opens = ::open("/etc/passwd", O_RDONLY) >= 0;
        const bool makes = ::open((scratch / "made").c_str(), O_RDWR | O_CREAT, 0600) >= 0;
        return Converted{
            true, std::to_string(writes) + std::to_string(opens) + std::to_string(makes), ""};
    });
    ::close(open_here);
    EXPECT_EQ(result.output, "000");
    EXPECT_EQ(std::filesystem::file_size(scratch / "open"), 0u);
}

// A hostile shader may take the converter over.
TEST(Sandbox, WhoIsInsideHarmsNobody) {
    const cairn_test::TempDirectory scratch;
    const std::string victim = scratch / "victim";
    std::ofstream(victim) << "precious";
    auto *shared = static_cast<char *>(
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void *>(shared), MAP_FAILED);
    const pid_t parent = ::getpid();
    const Converted result = run([&](std::string_view) {
        std::string done;
        done += ::truncate(victim.c_str(), 0) == 0 ? "truncate " : "";
        done += ::rename(victim.c_str(), (victim + "2").c_str()) == 0 ? "rename " : "";
        done += ::unlink(victim.c_str()) == 0 ? "unlink " : "";
        done += ::mkdir((scratch / "made").c_str(), 0700) == 0 ? "mkdir " : "";
        done += ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? "socket " : "";
        done += ::kill(parent, 0) == 0 ? "kill " : "";
        const pid_t child = ::fork();
        if (child == 0) ::_exit(0);
        done += child > 0 ? "fork " : "";
        return Converted{true, done, ""};
    });
    EXPECT_TRUE(result.ok) << result.messages;
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(std::filesystem::file_size(victim), 8u);
    EXPECT_TRUE(says(run([&](std::string_view) {
                         *shared = 1;
                         return Converted{true, "", ""};
                     }),
                     "crashed"));
    EXPECT_EQ(*shared, 0);
    ::munmap(shared, 4096);
}

TEST(Sandbox, AnAnswerThatIsCutOrFalseIsNone) {
    // A converter that has been taken over writes to our pipe itself.
    for (const std::string &answer :
         {std::string(1, '\1'), std::string(24, '\xFF'), std::string(23, '\0'),
          std::string("\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0abc", 27)}) {
        const Converted result = run([&](std::string_view) -> Converted {
            for (int fd = 3; fd < 64; ++fd) {
                if (::write(fd, answer.data(), answer.size()) > 0) ::_exit(0);
            }
            ::_exit(0);
        });
        EXPECT_TRUE(says(result, "without an answer")) << answer.size();
    }
}

}  // namespace
}  // namespace cairn::conversions
