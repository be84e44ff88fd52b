// SPDX-License-Identifier: MIT
#include "signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "output.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

template <std::size_t kSize>
std::array<std::byte, kSize> from_hexadecimal(const std::string &digits) {
    std::array<std::byte, kSize> bytes = {};
    for (std::size_t i = 0; i < kSize; ++i) {
        bytes[i] = static_cast<std::byte>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
    }
    return bytes;
}

// RFC 8032, section 7.3: Ed25519ph of "abc".
const auto kSeed =
    from_hexadecimal<32>("833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42");
const PublicKey kKey = {
    from_hexadecimal<32>("ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf")};
const SignatureBytes kSignature = from_hexadecimal<64>(
    "98a70222f0b8121aa9d30f813d683f809e462b469c7ff87639499bb94e6dae41"
    "31f85042463c2a355a2003d062adf5aaa10b8c61e636062aaad11c2a26083406");

class SignedFileTest : public testing::Test {
  protected:
    SignedFileTest() {
        EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
        path_ = folder_ + "/some.pack";
    }
    ~SignedFileTest() override { fs::remove_all(folder_); }

    void write(const std::string &bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
    File open() const {
        auto file = Directory::working().open_file(path_, Access::read_only);
        EXPECT_TRUE(file.ok());
        return std::move(file.value());
    }
    std::optional<PublicKey> signer() const { return signer_of(open(), path_); }
    // These bytes and the trailer, as a signed file has them.
    std::string signed_bytes(const std::string &body, const SecretKey &key) const {
        write(body);
        const TrailerBytes trailer = encode_trailer(sign_file(open(), path_, body.size(), key));
        return body + std::string(reinterpret_cast<const char *>(trailer.data()), trailer.size());
    }

    std::string folder_ = fs::temp_directory_path() / "cairn-signature-XXXXXX";
    std::string path_;
    const SecretKey key_{kSeed};
};

TEST(SignatureTest, TheVectorOfTheStandardIsSignedAndVerified) {
    const SecretKey key(kSeed);
    EXPECT_EQ(key.public_key(), kKey);
    SignedMessage message;
    message.add(as_bytes("a"));
    message.add({});
    message.add(as_bytes("bc"));
    EXPECT_EQ(message.sign(key), kSignature);
    SignedMessage again;
    again.add(as_bytes("abc"));
    EXPECT_TRUE(again.is_signed_by(kKey, kSignature));
    SignedMessage other;
    other.add(as_bytes("abd"));
    EXPECT_FALSE(other.is_signed_by(kKey, kSignature));
}

TEST(SignatureTest, EachNewKeyIsAnotherAndSignsWhatItsPublicHalfVerifies) {
    const SecretKey first = SecretKey::make();
    const SecretKey second = SecretKey::make();
    EXPECT_NE(first.public_key(), second.public_key());
    EXPECT_EQ(SecretKey(first.seed()).public_key(), first.public_key());
    SignedMessage message;
    message.add(as_bytes("text"));
    SignedMessage same = message;
    SignedMessage by_other = message;
    const SignatureBytes signature = message.sign(first);
    EXPECT_TRUE(same.is_signed_by(first.public_key(), signature));
    EXPECT_FALSE(by_other.is_signed_by(second.public_key(), signature));
}

TEST(SignatureTest, AFingerprintIsRecognisedHoweverItIsTyped) {
    const std::string text = fingerprint(kKey);
    EXPECT_THAT(text, testing::MatchesRegex("([0-9a-f]{4}-){7}[0-9a-f]{4}"));
    std::string shouted = text;
    std::ranges::transform(shouted, shouted.begin(), ::toupper);
    std::string plain = text;
    std::erase(plain, '-');
    for (const std::string &typed : {text, shouted, plain}) {
        EXPECT_TRUE(is_fingerprint_of(typed, kKey)) << typed;
    }
    EXPECT_FALSE(is_fingerprint_of(text.substr(0, 9), kKey));
    EXPECT_FALSE(is_fingerprint_of("", kKey));
    EXPECT_NE(fingerprint(SecretKey::make().public_key()), text);
}

// With a key of small order anybody can sign: R and S of zero fit one message in eight.
TEST(SignatureTest, KeysWithWhichAnybodyCouldSignAreNotUsable) {
    EXPECT_TRUE(is_usable(kKey));
    EXPECT_FALSE(is_usable({}));
    PublicKey neutral = {};
    neutral.bytes[0] = std::byte{1};
    EXPECT_FALSE(is_usable(neutral));
    PublicKey too_large;
    too_large.bytes.fill(std::byte{0xff});
    EXPECT_FALSE(is_usable(too_large));
}

TEST(SignatureTest, Base64IsReadInOneWayOnly) {
    const std::string text = base64(kKey.bytes);
    EXPECT_EQ(bytes_from_base64<32>(text), kKey.bytes);
    for (const std::string &wrong :
         {text.substr(1), text.substr(0, text.size() - 1), text + "=", text + "A", " " + text,
          text + "\n", std::string("="), std::string(), std::string(text.size(), '-'),
          // Bits behind the last byte.
          text.substr(0, text.size() - 2) + "9="}) {
        EXPECT_EQ(bytes_from_base64<32>(wrong), std::nullopt) << wrong;
    }
}

TEST_F(SignedFileTest, ASignedFileNamesItsKey) {
    write(signed_bytes("what is in the pack", key_));
    EXPECT_EQ(signer(), kKey);
    const auto trailer = read_trailer(open(), path_);
    ASSERT_TRUE(trailer);
    EXPECT_EQ(trailer->key, kKey);
}

TEST_F(SignedFileTest, TheTrailerIsLaidOutAsThePageSays) {
    const std::string bytes = signed_bytes("pack", key_).substr(4);
    EXPECT_EQ(bytes.substr(0, 8), "CAIRNSIG");
    EXPECT_EQ(bytes.substr(8, 8), std::string("\1\0\0\0\0\0\0\0", 8));
    EXPECT_TRUE(same_bytes(as_bytes(bytes).subspan(16, 32), kKey.bytes));
    EXPECT_EQ(bytes.substr(112), std::string(16, '\0'));
    SignedMessage covered;
    covered.add(as_bytes("pack"));
    covered.add(as_bytes(bytes).first(48));
    SignatureBytes signature = {};
    std::ranges::copy(as_bytes(bytes).subspan(48, 64), signature.begin());
    EXPECT_TRUE(covered.is_signed_by(kKey, signature));
}

TEST_F(SignedFileTest, DamageToAnyByteIsFound) {
    const std::string whole = signed_bytes(std::string(72, 'x'), key_);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        for (const int flip : {1, 0x80, 0xff}) {
            std::string damaged = whole;
            damaged[i] = static_cast<char>(damaged[i] ^ flip);
            write(damaged);
            EXPECT_EQ(signer(), std::nullopt) << "byte " << i << " by " << flip;
        }
    }
}

TEST_F(SignedFileTest, AFileThatIsLongerOrShorterIsNotTheOneThatWasSigned) {
    const std::string whole = signed_bytes(std::string(72, 'x'), key_);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        write(whole.substr(0, size));
        EXPECT_EQ(signer(), std::nullopt) << size;
        write(whole.substr(whole.size() - size));
        EXPECT_EQ(signer(), std::nullopt) << size;
    }
    write(whole + '\0');
    EXPECT_EQ(signer(), std::nullopt);
    write('\0' + whole);
    EXPECT_EQ(signer(), std::nullopt);
}

TEST_F(SignedFileTest, AFileWithoutASignatureHasNoSigner) {
    write(std::string(300, '\0'));
    EXPECT_EQ(signer(), std::nullopt);
    EXPECT_FALSE(read_trailer(open(), path_));
    write("");
    EXPECT_EQ(signer(), std::nullopt);
}

// The signature covers the key, too.
TEST_F(SignedFileTest, AnotherKeyCannotBePutIntoTheTrailer) {
    const SecretKey other = SecretKey::make();
    const std::string by_one = signed_bytes("body", key_);
    const std::string by_other = signed_bytes("body", other);
    write(by_one.substr(0, 4 + 16) + by_other.substr(4 + 16, 32) + by_one.substr(4 + 48));
    EXPECT_EQ(signer(), std::nullopt);
    write(by_one.substr(0, 4 + 48) + by_other.substr(4 + 48));
    EXPECT_EQ(signer(), std::nullopt);
    write(by_other);
    EXPECT_EQ(signer(), other.public_key());
}

TEST_F(SignedFileTest, AFileIsHashedInPieces) {
    std::string body(3 * (1 << 20) + 5, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 + (i >> 13));
    const std::string whole = signed_bytes(body, key_);
    write(whole);
    EXPECT_EQ(signer(), kKey);
    std::string damaged = whole;
    damaged[(1 << 20) + 17] ^= 1;
    write(damaged);
    EXPECT_EQ(signer(), std::nullopt);
    write(body);
    EXPECT_THROW(sign_file(open(), path_, body.size() + 1, key_), Failure);
}

std::string signed_in_memory(const std::string &body, const SecretKey &key) {
    const TrailerBytes trailer = encode_trailer(sign_bytes(as_bytes(body), key));
    return body + std::string(reinterpret_cast<const char *>(trailer.data()), trailer.size());
}

TEST_F(SignedFileTest, BytesAreSignedAsFilesAre) {
    for (const std::string &body : {std::string(), std::string("body"), std::string(70'000, 'x')}) {
        const std::string whole = signed_bytes(body, key_);
        EXPECT_EQ(signed_in_memory(body, key_), whole);
        EXPECT_EQ(signer_of(as_bytes(whole)), kKey);
        write(whole);
        EXPECT_EQ(signer(), kKey);
    }
}

TEST(SignedBytesTest, DamageToAnyByteIsFound) {
    const std::string whole = signed_in_memory(std::string(72, 'x'), SecretKey(kSeed));
    for (std::size_t i = 0; i < whole.size(); ++i) {
        for (const int flip : {1, 0x80, 0xff}) {
            std::string damaged = whole;
            damaged[i] = static_cast<char>(damaged[i] ^ flip);
            EXPECT_EQ(signer_of(as_bytes(damaged)), std::nullopt) << "byte " << i << " by " << flip;
        }
    }
}

TEST(SignedBytesTest, WhatIsLongerOrShorterHasNoSigner) {
    const std::string whole = signed_in_memory(std::string(72, 'x'), SecretKey(kSeed));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_EQ(signer_of(as_bytes(whole).first(size)), std::nullopt) << size;
        EXPECT_EQ(signer_of(as_bytes(whole).last(size)), std::nullopt) << size;
    }
    EXPECT_EQ(signer_of(as_bytes(whole + '\0')), std::nullopt);
    EXPECT_EQ(signer_of(as_bytes(std::string(300, '\0'))), std::nullopt);
}

TEST(SignedBytesTest, AnotherKeyCannotBePutIntoTheTrailer) {
    const SecretKey other = SecretKey::make();
    const std::string by_one = signed_in_memory("body", SecretKey(kSeed));
    const std::string by_other = signed_in_memory("body", other);
    const std::string mixed =
        by_one.substr(0, 4 + 16) + by_other.substr(4 + 16, 32) + by_one.substr(4 + 48);
    EXPECT_EQ(signer_of(as_bytes(mixed)), std::nullopt);
    EXPECT_EQ(signer_of(as_bytes(by_other)), other.public_key());
}

}  // namespace
}  // namespace cairn::cli
