// SPDX-License-Identifier: MIT
// The keys of the user: those to sign with, those whose signatures count, and those that count no
// more.
//
//     ~/.config/cairn/keys/NAME.secret     keys of one's own
//     ~/.config/cairn/trusted/NAME.key     what they sign may be installed
//     ~/.config/cairn/revoked/NAME.key     what they sign may not, whatever is in trusted
//
// The folder is that of the configuration, see os/configuration.h. A file counts only where it, its
// folder and the folder of the configuration belong to the user or the system, and nobody else may
// write them; and a secret key only where nobody else may read it. Links below the folder of the
// configuration are not followed.
//
// Thread safety: used by main only. A command that changes keys holds a KeysLock. One that asks whether
// a key is trusted holds it until what follows from the answer is done, such as an installation:
// `cairn key revoke` removes what is installed then, and must not miss a pack.
// Failure: a Failure that says what to do. What does not count is a problem in the lists. Where that
// is a revoked key, nothing is trusted before it is mended: a Failure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session.h"
#include "signature.h"

namespace cairn::cli {

struct NamedKey {
    std::string name;
    PublicKey key;
};

// Letters, digits, `.`, `_` and `-`, with no dot first, 64 at most.
bool is_key_name(std::string_view name);

// The line by which people pass a public key on: `cairn-key-1 BASE64 NAME`.
std::string encode_key(const NamedKey &key);
// The line, with blanks around it. nullopt: it is none.
std::optional<NamedKey> decode_key(std::string_view text);
bool is_key_text(std::string_view text);  // it begins as one

// While it lives, no other `cairn` changes keys, or asks for them with a lock.
enum class KeysUse { read, change };
class KeysLock {
  public:
    // To change them the folder of the configuration is made where it is missing. A Failure where it
    // is another user's, or sudo has made us root.
    explicit KeysLock(KeysUse use);

  private:
    std::optional<FolderLock> lock_;
};

struct Keys {
    std::vector<NamedKey> keys;         // sorted by name
    std::vector<std::string> problems;  // of files and folders that count as no key
};
Keys own_keys();  // the public halves
Keys trusted_keys();
Keys revoked_keys();

// By which name a signer is trusted; nullopt: it is not. Then the files and folders that count as no
// key are named on standard error.
std::optional<std::string> trusted_name(const PublicKey &signer);
// The same of a key that was revoked.
std::optional<std::string> revoked_name(const PublicKey &signer);

// For signing. A Failure where there is no such key, others may read it, or it was revoked.
SecretKey load_secret_key(const std::string &name);

// These are for `cairn key`, and REQUIRE a KeysLock. They replace no file.
void store_own_key(const std::string &name, const SecretKey &key);  // trusted, too
void store_trusted_key(const NamedKey &key);
// Notes it among the revoked, and then takes it out of the trusted ones. Once more does no harm.
void store_revocation(const NamedKey &key);

}  // namespace cairn::cli
