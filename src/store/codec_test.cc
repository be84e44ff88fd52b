// SPDX-License-Identifier: MIT
#include "store/codec.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <thread>
#include <vector>

namespace cairn {
namespace {

using ByteVector = std::vector<std::byte>;

ByteVector text(std::size_t size) {
    ByteVector bytes(size);
    // Repetitive with some new bytes now and then, as programs are.
    std::uint32_t x = 1;
    for (std::size_t i = 0; i < size; ++i) {
        if (i % 16 == 0) x = x * 1664525u + 1013904223u;
        bytes[i] = i % 16 == 0 ? static_cast<std::byte>(x >> 24)
                               : static_cast<std::byte>("vec4 gl_"[i % 8]);
    }
    return bytes;
}

ByteVector noise(std::size_t size) {
    ByteVector bytes(size);
    std::uint64_t x = 1;
    for (std::byte &b : bytes) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        b = static_cast<std::byte>(x >> 56);
    }
    return bytes;
}

TEST(CodecTest, GivesBackWhatWasCompressed) {
    Compressor compressor;
    Decompressor decompressor;
    for (const std::size_t size : {256u, 257u, 6000u, 70'000u, 3'000'000u, kCompressedRawMax}) {
        const ByteVector value = text(size);
        const Bytes frame = compressor.compress(value).value();
        ASSERT_FALSE(frame.empty()) << size;
        EXPECT_LE(frame.size(), size - size / 8);
        ByteVector raw(size);
        ASSERT_TRUE(decompressor.decompress(frame, raw).ok()) << size;
        EXPECT_EQ(raw, value);
    }
}

TEST(CodecTest, LeavesAloneWhatDoesNotPay) {
    Compressor compressor;
    EXPECT_TRUE(compressor.compress({}).value().empty());
    EXPECT_TRUE(compressor.compress(text(kCompressedRawMin - 1)).value().empty());
    EXPECT_TRUE(compressor.compress(text(std::size_t{kCompressedRawMax} + 1)).value().empty());
    EXPECT_TRUE(compressor.compress(noise(6000)).value().empty());
    EXPECT_TRUE(compressor.compress(ByteVector(8 << 20)).value().empty())
        << "no reader believes the ratio";
    EXPECT_FALSE(compressor.compress(text(6000)).value().empty()) << "usable after a refusal";
}

TEST(CodecTest, DamagedFramesGiveAnErrorAndStayInBounds) {
    Compressor compressor;
    Decompressor decompressor;
    const ByteVector value = text(4000);
    const Bytes frame = compressor.compress(value).value();
    ByteVector raw(4000);
    for (const std::size_t other : {0u, 1u, 3999u, 4001u, 8000u}) {
        ByteVector wrong(other);
        EXPECT_EQ(decompressor.decompress(frame, wrong).error(), Error::corrupt) << other;
    }
    for (std::size_t size = 0; size < frame.size(); ++size) {
        EXPECT_FALSE(decompressor.decompress(frame.first(size), raw).ok()) << size;
    }
    ByteVector bad(frame.begin(), frame.end());
    for (std::size_t i = 0; i < bad.size() * 8; ++i) {
        bad[i / 8] ^= static_cast<std::byte>(1u << i % 8);
        (void)decompressor.decompress(bad, raw);  // AddressSanitizer watches
        bad[i / 8] ^= static_cast<std::byte>(1u << i % 8);
    }
    ASSERT_TRUE(decompressor.decompress(frame, raw).ok()) << "usable after damage";
    EXPECT_EQ(raw, value);
}

TEST(CodecTest, FramesThatClaimMuchAllocateNothing) {
    // A frame of some bytes that says it holds 8 MiB, as zstd itself would write it.
    ByteVector frame(ZSTD_compressBound(8 << 20));
    const ByteVector zeros(8 << 20);
    frame.resize(ZSTD_compress(frame.data(), frame.size(), zeros.data(), zeros.size(), 3));
    ByteVector raw(1000);
    EXPECT_EQ(Decompressor().decompress(frame, raw).error(), Error::corrupt);
}

TEST(CodecTest, ManyThreadsShareADecompressor) {
    Compressor compressor;
    Decompressor decompressor;
    const ByteVector value = text(9000);
    const Bytes frame = compressor.compress(value).value();
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 200; ++round) {
                ByteVector raw(value.size());
                EXPECT_TRUE(decompressor.decompress(frame, raw).ok());
                EXPECT_EQ(raw, value);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace cairn
