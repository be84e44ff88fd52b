// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/processor.h"

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

// libb2's blake2bp() with a digest of 32 bytes and no key, over 0, 1, ... 250, 0, 1, ... An own
// program in Python gives the same; its nodes are those of hashlib.blake2b(fanout=4, depth=2,
// inner_size=64, ...).
TEST(Blake2bp, MatchesAnotherImplementation) {
    const struct {
        std::size_t size;
        const char *digest;
    } cases[] = {
        {0, "e3f5e2e3c4336e2b8eec91ecb154e40c8b1fa34091b286bca5b67d5a7f87ff98"},
        {1, "edbdf8679498d881f78229721caa18896376f493714fc153d953227f1d49f519"},
        {127, "44fe3341ed7a400cd363f7b56f9a0d9c1e9f590436717b205ee05f59ddb7ae9e"},
        {128, "8d20c0831ff252b3701f0c0dae63c46beb5359fc736917b13a96ef5474e38db0"},
        {129, "005c774e244e92b47c6b3bc8951996e8ea212a243db69b9a616bc9a04a2137db"},
        {511, "442bb81c3b34996fdedd1a6500f79a35a5a3a4fba805752b0b82234e1e409f66"},
        {512, "935934d630817ec1c62b0179e1dd3c519a06286925bd61206dd7c29ec8b01252"},
        {513, "c071754db5f595d2b3c95a259f1b79b50a96c1435625e89127725731b94c951e"},
        {1024, "94eb4218308775731f7f07aaea021635cfed62f1318b3549dca4aa37377f23c4"},
        {4103, "38ee1cc2bc937fa576f81c3106dce41f600578a6be80f5dcf265cd71f0732efd"},
        {100000, "ccd3d02bfacf9da8234027dff73a5c12deb23568143ea0c45080334b64f9205f"},
    };
    for (const auto &[size, digest] : cases)
        EXPECT_EQ(hexadecimal(blake2bp(counting_bytes(size))), digest) << size;
}

// All sizes up to four rows, at all places in a word. Each input ends where its memory ends, so that
// AddressSanitizer sees a read beyond it.
void expect_same_as_baseline(decltype(blake2::hash_leaves_baseline) hash_leaves) {
    for (std::size_t size = 0; size <= 2048; ++size) {
        const std::size_t skipped = size % 8;
        const auto memory = std::make_unique<std::byte[]>(skipped + size);
        std::byte *const bytes = memory.get() + skipped;
        std::ranges::copy(counting_bytes(size), bytes);
        blake2::LeafDigests expected, digests;
        blake2::hash_leaves_baseline(bytes, size, expected);
        hash_leaves(bytes, size, digests);
        for (std::size_t leaf = 0; leaf < 4; ++leaf)
            ASSERT_TRUE(std::ranges::equal(digests[leaf], expected[leaf])) << size << ", " << leaf;
    }
}

TEST(Blake2bp, HashesLeavesWithAvx2AsWithout) {
    if (!has_avx2()) GTEST_SKIP() << "no AVX2 here";
    expect_same_as_baseline(blake2::hash_leaves_avx2);
}

TEST(Blake2bp, HashesLeavesWithAvx512AsWithout) {
    if (!has_avx512()) GTEST_SKIP() << "no AVX-512 here";
    expect_same_as_baseline(blake2::hash_leaves_avx512);
}

// An own program in Python gives the same.
TEST(HashByHalves, MatchesAnotherImplementation) {
    const struct {
        std::size_t size;
        const char *digest;
    } cases[] = {
        {4096, "ca823d106c1ce8706b57ba1b071e7dc2813f8389bdaa1df985feafdbff761b0a"},
        {4097, "7bf85cd66dfca29adaa26b7b896ef2ffc9490d8b5adc3b5cc9947572ac727039"},
        {5000, "c1bee1b2ba848720d3245b43c5922e70dff85485d47f9036216252214257a9b5"},
        {100000, "b7ebcd73aed11511a8918403497e5fdca2dbf65b23ce0f90e800404fdb894d30"},
    };
    for (const auto &[size, digest] : cases)
        EXPECT_EQ(hexadecimal(hash_by_halves(counting_bytes(size))), digest) << size;
}

// What the header says, with other functions.
TEST(HashByHalves, IsTheHashOfTheHashesOfBothHalves) {
    for (std::size_t size = 0; size <= 8192; size += size < 1100 ? 1 : 61) {
        const auto memory = std::make_unique<std::byte[]>(size);
        std::ranges::copy(counting_bytes(size), memory.get());
        const Bytes bytes(memory.get(), size);
        const Bytes first = bytes.first(std::min((size / 2 + 511) / 512 * 512, size));
        Blake2b expected;
        expected.add(blake2bp(first));
        expected.add(blake2bp(bytes.subspan(first.size())));
        ASSERT_EQ(hexadecimal(hash_by_halves(bytes)), hexadecimal(expected.finish())) << size;
    }
}

// Two texts of any sizes, of which one may end long before the other.
TEST(HashByHalves, HashesTwoTextsWithAvx512AsWithout) {
    if (!has_avx512()) GTEST_SKIP() << "no AVX-512 here";
    const auto all = counting_bytes(4096);
    for (std::size_t size = 0; size <= 2048; size += 31) {
        const Bytes texts[] = {Bytes(all).first(size), Bytes(all).subspan(size, 2048 - size)};
        blake2::LeafDigests found[2];
        blake2::hash_two_avx512(texts[0].data(), texts[0].size(), texts[1].data(), texts[1].size(),
                                found);
        for (std::size_t text = 0; text < 2; ++text) {
            blake2::LeafDigests expected;
            blake2::hash_leaves_baseline(texts[text].data(), texts[text].size(), expected);
            for (std::size_t leaf = 0; leaf < 4; ++leaf)
                ASSERT_TRUE(std::ranges::equal(found[text][leaf], expected[leaf])) << size;
        }
    }
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
