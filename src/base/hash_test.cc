// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace cairn {
namespace {

TEST(KeyedHash, MatchesTheSipHashPaper) {
    // Appendix A of the SipHash paper: key 00..0f, message 00..0e.
    HashSeed seed;
    for (std::size_t i = 0; i < seed.size(); ++i) seed[i] = static_cast<std::byte>(i);
    std::array<std::byte, 15> message;
    for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i);
    EXPECT_EQ(keyed_hash(message, seed), 0xa129ca6149be45e5u);
}

// The first of the vectors that its authors publish: messages 00..n-1 under the same key.
TEST(KeyedHash, MatchesForEachSizeOfTheLastWord) {
    constexpr std::uint64_t kExpected[] = {
        0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
        0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
        0x93f5f5799a932462, 0x9e0082df0ba9e4b0};
    HashSeed seed;
    for (std::size_t i = 0; i < seed.size(); ++i) seed[i] = static_cast<std::byte>(i);
    std::array<std::byte, 9> message;
    for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i);
    for (std::size_t size = 0; size <= message.size(); ++size)
        EXPECT_EQ(keyed_hash(Bytes(message).first(size), seed), kExpected[size]) << size;
}

TEST(KeyedHash, DependsOnTheSeed) {
    HashSeed a{}, b{};
    b[15] = std::byte{1};
    EXPECT_NE(keyed_hash(as_bytes("key"), a), keyed_hash(as_bytes("key"), b));
}

TEST(Blake2b, GivesTheSameDigestHoweverTheInputIsCut) {
    Blake2b whole, pieces;
    whole.add(as_bytes("a program's source"));
    pieces.add(as_bytes("a program"));
    pieces.add(as_bytes("'s source"));
    EXPECT_EQ(whole.finish(), pieces.finish());
}

// The bytes 0, 1, ... 250, 0, 1, ...
std::vector<std::byte> counting_bytes(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 251);
    return bytes;
}

std::array<std::byte, 32> digest_of(Bytes bytes) {
    Blake2b hash;
    hash.add(bytes);
    return hash.finish();
}

// The algorithm of RFC 7693 with digests of 32 bytes, as Python's hashlib computes them.
TEST(Blake2b, MatchesAnotherImplementation) {
    EXPECT_EQ(hexadecimal(digest_of({})),
              "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    EXPECT_EQ(hexadecimal(digest_of(as_bytes("abc"))),
              "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    EXPECT_EQ(hexadecimal(digest_of(counting_bytes(4096))),
              "11c294a11dc67e3ddb25f8c06cca2721e58d2a044243abea6c7063fd17d589e5");
}

TEST(Blake2b, MatchesAnotherImplementationForEachSizeUpToEightBlocks) {
    Blake2b all;
    for (std::size_t size = 0; size <= 1024; ++size) all.add(digest_of(counting_bytes(size)));
    EXPECT_EQ(hexadecimal(all.finish()),
              "2a21f91283a09c2ece0b57af3ea8334825cf70576156bbe682fd63b5d7bb62c7");
}

// A process may have closed a sandbox around itself before it makes its first key.
TEST(Blake2b, NeedsNoSystemCall) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    GTEST_SKIP() << "ThreadSanitizer makes system calls of its own";
#endif
#endif
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        // From here on the kernel kills the process at any call but read, write and exit.
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) _exit(77);
        const auto digest = digest_of(as_bytes("abc"));
        syscall(SYS_exit, digest[0] == std::byte{0xbd} ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp here";
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace cairn
