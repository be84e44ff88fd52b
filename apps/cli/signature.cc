// SPDX-License-Identifier: MIT
#include "signature.h"

#include <sodium.h>

#include <algorithm>
#include <cassert>
#include <cctype>
#include <new>
#include <vector>

#include "os/root.h"
#include "output.h"

namespace cairn::cli {
namespace {

static_assert(sizeof(PublicKey) == crypto_sign_PUBLICKEYBYTES);
static_assert(SecretKey::kSeedSize == crypto_sign_SEEDBYTES);
static_assert(sizeof(SignatureBytes) == crypto_sign_BYTES);
static_assert(sizeof(crypto_sign_state) <= 208 && alignof(crypto_sign_state) <= 8);

// The trailer, see docs/formats/pack.md.
constexpr std::string_view kMagic = "CAIRNSIG";
constexpr std::uint32_t kFormatVersion = 1;
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kFlagsAt = 12;
constexpr std::size_t kKeyAt = 16;
constexpr std::size_t kSignatureAt = 48;  // covered up to here
constexpr std::size_t kReservedAt = 112;

unsigned char *sodium_bytes(MutableBytes bytes) {
    return reinterpret_cast<unsigned char *>(bytes.data());
}
const unsigned char *sodium_bytes(Bytes bytes) {
    return reinterpret_cast<const unsigned char *>(bytes.data());
}

// Chooses the fastest code for this processor, and makes random numbers ready. Only once.
void start_sodium() {
    static const int result = sodium_init();
    if (result < 0) throw Failure(kExitFailure, "libsodium cannot be used on this system");
}

void read_exactly(const File &file, const std::string &name, std::uint64_t offset,
                  MutableBytes out) {
    auto size = file.read_at(offset, out);
    if (!size.ok()) {
        throw Failure(kExitFailure, "cannot read {}: {}", name, error_name(size.error()));
    }
    if (*size != out.size()) {
        throw Failure(kExitFailure, "{} became shorter while it was read", name);
    }
}

std::uint64_t size_of(const File &file, const std::string &name) {
    auto info = file.info();
    if (!info.ok()) {
        throw Failure(kExitFailure, "cannot read {}: {}", name, error_name(info.error()));
    }
    return info->size_bytes;
}

std::optional<Trailer> trailer_of(const File &file, const std::string &name,
                                  std::uint64_t file_size) {
    if (file_size < kTrailerSize) return std::nullopt;
    TrailerBytes bytes = {};
    read_exactly(file, name, file_size - kTrailerSize, bytes);
    return decode_trailer(bytes);
}

// What is covered of the trailer, behind the body.
void add_trailer(SignedMessage &message, const PublicKey &key) {
    message.add(Bytes(encode_trailer({key, {}})).first(kSignatureAt));
}

SignedMessage message_of(Bytes body, const PublicKey &key) {
    SignedMessage message;
    message.add(body);
    add_trailer(message, key);
    return message;
}

// The body of a file: its first bytes.
SignedMessage message_of(const File &file, const std::string &name, std::uint64_t body_size,
                         const PublicKey &key) {
    constexpr std::size_t kPieceSize = 1 << 20;
    const Progress progress("Reading " + name);
    SignedMessage message;
    std::vector<std::byte> piece(kPieceSize);
    for (std::uint64_t at = 0; at < body_size;) {
        const std::size_t size =
            static_cast<std::size_t>(std::min<std::uint64_t>(kPieceSize, body_size - at));
        const MutableBytes part = MutableBytes(piece).first(size);
        read_exactly(file, name, at, part);
        message.add(part);
        at += size;
    }
    add_trailer(message, key);
    return message;
}

// By whom a message is signed, of which this is the trailer. `message_by` makes it, given a key.
template <typename MessageBy>
std::optional<PublicKey> signer_by(const std::optional<Trailer> &trailer,
                                   const MessageBy &message_by) {
    if (!trailer || !is_usable(trailer->key)) return std::nullopt;
    const bool is_signed = message_by(trailer->key).is_signed_by(trailer->key, trailer->signature);
    return is_signed ? std::optional(trailer->key) : std::nullopt;
}

}  // namespace

std::string fingerprint(const PublicKey &key) {
    std::array<std::byte, 16> hash = {};
    crypto_generichash(sodium_bytes(MutableBytes(hash)), hash.size(),
                       sodium_bytes(Bytes(key.bytes)), key.bytes.size(), nullptr, 0);
    const std::string digits = hexadecimal(hash);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); i += 4) {
        text.append(i == 0 ? "" : "-").append(digits, i, 4);
    }
    return text;
}

bool is_fingerprint_of(std::string_view text, const PublicKey &key) {
    const auto plain = [](std::string_view with_hyphens) {
        std::string digits;
        for (const char c : with_hyphens) {
            if (c != '-') digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
        return digits;
    };
    return plain(text) == plain(fingerprint(key));
}

bool is_usable(const PublicKey &key) {
    return crypto_core_ed25519_is_valid_point(sodium_bytes(Bytes(key.bytes))) == 1;
}

SecretKey::SecretKey(Bytes seed) {
    assert(seed.size() == kSeedSize);
    start_sodium();
    PublicKey public_key;
    crypto_sign_seed_keypair(sodium_bytes(MutableBytes(public_key.bytes)),
                             sodium_bytes(MutableBytes(bytes_)), sodium_bytes(seed));
}

SecretKey SecretKey::make() {
    start_sodium();
    SecretKey key;
    PublicKey public_key;
    crypto_sign_keypair(sodium_bytes(MutableBytes(public_key.bytes)),
                        sodium_bytes(MutableBytes(key.bytes_)));
    return key;
}

SecretKey::SecretKey(SecretKey &&other) noexcept : bytes_(other.bytes_) {
    sodium_memzero(other.bytes_.data(), other.bytes_.size());
}

SecretKey::~SecretKey() {
    sodium_memzero(bytes_.data(), bytes_.size());
}

PublicKey SecretKey::public_key() const {
    PublicKey key;
    std::copy_n(bytes_.begin() + kSeedSize, key.bytes.size(), key.bytes.begin());
    return key;
}

void wipe(MutableBytes bytes) {
    sodium_memzero(bytes.data(), bytes.size());
}

void wipe(std::string &text) {
    sodium_memzero(text.data(), text.size());
    text.clear();
}

std::string base64(Bytes bytes) {
    constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;
    std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
    sodium_bin2base64(text.data(), text.size(), sodium_bytes(bytes), bytes.size(), kVariant);
    text.pop_back();  // the zero at the end
    return text;
}

template <std::size_t kSize>
std::optional<std::array<std::byte, kSize>> bytes_from_base64(std::string_view text) {
    std::array<std::byte, kSize> bytes = {};
    std::size_t size = 0;
    const char *end = nullptr;
    const int result =
        sodium_base642bin(sodium_bytes(MutableBytes(bytes)), bytes.size(), text.data(), text.size(),
                          nullptr, &size, &end, sodium_base64_VARIANT_ORIGINAL);
    if (result != 0 || size != kSize || end != text.data() + text.size()) return std::nullopt;
    return bytes;
}
template std::optional<std::array<std::byte, 32>> bytes_from_base64(std::string_view text);

SignedMessage::SignedMessage() {
    start_sodium();
    crypto_sign_init(new (state_.data()) crypto_sign_state);
}

void SignedMessage::add(Bytes piece) {
    crypto_sign_update(reinterpret_cast<crypto_sign_state *>(state_.data()), sodium_bytes(piece),
                       piece.size());
}

SignatureBytes SignedMessage::sign(const SecretKey &key) {
    SignatureBytes signature = {};
    crypto_sign_final_create(reinterpret_cast<crypto_sign_state *>(state_.data()),
                             sodium_bytes(MutableBytes(signature)), nullptr,
                             sodium_bytes(key.bytes()));
    return signature;
}

bool SignedMessage::is_signed_by(const PublicKey &key, const SignatureBytes &signature) {
    return crypto_sign_final_verify(reinterpret_cast<crypto_sign_state *>(state_.data()),
                                    sodium_bytes(Bytes(signature)),
                                    sodium_bytes(Bytes(key.bytes))) == 0;
}

TrailerBytes encode_trailer(const Trailer &trailer) {
    TrailerBytes bytes = {};
    std::ranges::copy(as_bytes(kMagic), bytes.begin());
    put_le(MutableBytes(bytes), kVersionAt, kFormatVersion);
    put_le(MutableBytes(bytes), kFlagsAt, std::uint32_t{0});
    std::ranges::copy(trailer.key.bytes, bytes.begin() + kKeyAt);
    std::ranges::copy(trailer.signature, bytes.begin() + kSignatureAt);
    return bytes;
}

std::optional<Trailer> decode_trailer(Bytes bytes) {
    if (bytes.size() != kTrailerSize || !same_bytes(bytes.first(kMagic.size()), as_bytes(kMagic)) ||
        get_le<std::uint32_t>(bytes, kVersionAt) != kFormatVersion ||
        get_le<std::uint32_t>(bytes, kFlagsAt) != 0) {
        return std::nullopt;
    }
    // The signature does not cover these.
    const Bytes reserved = bytes.subspan(kReservedAt);
    if (std::ranges::any_of(reserved, [](std::byte b) { return b != std::byte{0}; })) {
        return std::nullopt;
    }
    Trailer trailer;
    std::ranges::copy(bytes.subspan(kKeyAt, trailer.key.bytes.size()), trailer.key.bytes.begin());
    std::ranges::copy(bytes.subspan(kSignatureAt, trailer.signature.size()),
                      trailer.signature.begin());
    return trailer;
}

std::optional<Trailer> read_trailer(const File &file, const std::string &name) {
    return trailer_of(file, name, size_of(file, name));
}

Trailer sign_file(const File &file, const std::string &name, std::uint64_t body_size,
                  const SecretKey &key) {
    const PublicKey public_key = key.public_key();
    return {public_key, message_of(file, name, body_size, public_key).sign(key)};
}

std::optional<PublicKey> signer_of(const File &file, const std::string &name) {
    const std::uint64_t file_size = size_of(file, name);
    return signer_by(trailer_of(file, name, file_size), [&](const PublicKey &key) {
        return message_of(file, name, file_size - kTrailerSize, key);
    });
}

Trailer sign_bytes(Bytes body, const SecretKey &key) {
    const PublicKey public_key = key.public_key();
    return {public_key, message_of(body, public_key).sign(key)};
}

std::optional<PublicKey> signer_of(Bytes whole) {
    if (whole.size() < kTrailerSize) return std::nullopt;
    const Bytes body = whole.first(whole.size() - kTrailerSize);
    return signer_by(decode_trailer(whole.last(kTrailerSize)),
                     [&](const PublicKey &key) { return message_of(body, key); });
}

}  // namespace cairn::cli
