// SPDX-License-Identifier: MIT
// Signatures over files and other objects: Ed25519ph (RFC 8032), key pairs, and the trailer of what is
// signed. The only file that knows libsodium.
//
// A signature covers an object's bytes and then the beginning of its trailer, which has the public key
// and so is bound to it. A file's bytes are hashed as they are read: memory does not grow with it.
// The trailer is laid out in docs/formats/pack.md.
//
// Thread safety: values; functions without state.
// Ownership: a SecretKey wipes its bytes at its end, and is never copied.
// Failure: a Failure where a file cannot be read. A signature that does not fit, or a trailer that is
// none, is a result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "os/file.h"

namespace cairn::cli {

struct PublicKey {
    std::array<std::byte, 32> bytes = {};

    bool operator==(const PublicKey &) const = default;
};

// As people compare it: 128 bits of the key's BLAKE2b in hexadecimal digits, by fours with hyphens.
std::string fingerprint(const PublicKey &key);
// Whether a text that somebody typed means this key: all digits, in any case, with hyphens or not.
bool is_fingerprint_of(std::string_view text, const PublicKey &key);

// Whether these bytes can be a key with which signatures are checked. For others, such as zeroes,
// anybody could make signatures that fit many messages.
bool is_usable(const PublicKey &key);

class SecretKey {
  public:
    static constexpr std::size_t kSeedSize = 32;

    // The key of this seed, of which the whole pair follows.
    explicit SecretKey(Bytes seed);
    // A new one, by chance.
    static SecretKey make();
    SecretKey(SecretKey &&other) noexcept;
    SecretKey &operator=(SecretKey &&other) = delete;
    SecretKey(const SecretKey &) = delete;
    SecretKey &operator=(const SecretKey &) = delete;
    ~SecretKey();

    PublicKey public_key() const;
    // What a file of the key has to hold.
    Bytes seed() const { return Bytes(bytes_).first(kSeedSize); }
    // The seed and the public key, as libsodium wants them.
    Bytes bytes() const { return bytes_; }

  private:
    SecretKey() = default;

    std::array<std::byte, 64> bytes_ = {};
};

// Zeroes them, so that a secret does not stay in memory.
void wipe(MutableBytes bytes);
void wipe(std::string &text);

// Base64 as in RFC 4648, with padding. nullopt: the text is not exactly that, of so many bytes.
std::string base64(Bytes bytes);
template <std::size_t kSize>
std::optional<std::array<std::byte, kSize>> bytes_from_base64(std::string_view text);
extern template std::optional<std::array<std::byte, 32>> bytes_from_base64(std::string_view text);

using SignatureBytes = std::array<std::byte, 64>;

// A message that comes in pieces, to be signed or checked once.
class SignedMessage {
  public:
    SignedMessage();

    void add(Bytes piece);
    SignatureBytes sign(const SecretKey &key);
    bool is_signed_by(const PublicKey &key, const SignatureBytes &signature);

  private:
    alignas(8) std::array<std::byte, 208> state_;  // libsodium's
};

// The last bytes of a pack, and of what else is signed.
inline constexpr std::size_t kTrailerSize = 128;
using TrailerBytes = std::array<std::byte, kTrailerSize>;

struct Trailer {
    PublicKey key;
    SignatureBytes signature = {};
};
TrailerBytes encode_trailer(const Trailer &trailer);
// nullopt: it is none of this version, or something is in it that this version does not know.
std::optional<Trailer> decode_trailer(Bytes bytes);

// Who signed a file, as its trailer says, which anybody may have written. nullopt: it has none.
std::optional<Trailer> read_trailer(const File &file, const std::string &name);

// The trailer for a file whose first `body_size` bytes are these.
Trailer sign_file(const File &file, const std::string &name, std::uint64_t body_size,
                  const SecretKey &key);

// By which key the whole file is signed; nullopt: by none, or some byte is not what was signed. The
// answer is about the bytes as they were read: to install a file, copy it where nobody else may
// write, and ask about the copy. `name` is for messages.
std::optional<PublicKey> signer_of(const File &file, const std::string &name);

// The same of an object in memory: the trailer for it, and by which key all of it, with its trailer, is
// signed.
Trailer sign_bytes(Bytes body, const SecretKey &key);
std::optional<PublicKey> signer_of(Bytes whole);

}  // namespace cairn::cli
