// Storage that machines share: objects by name. One engine a file: file.cc, http.cc, s3.cc, redis.cc.
// SPDX-License-Identifier: MIT
//
// What is stored is opaque here, and nothing that comes back is trusted: who stored it, and whether it is
// whole, is for the caller to find out. Objects are written once and never changed, so an engine needs no
// order between writers.
//
// A name is one or more parts with slashes between them; a part has letters, digits, `.`, `_` and `-`, no dot
// first, and 128 bytes at most; a name has 512 at most. A folder is what comes before a slash. No name is that of a
// folder as well, which not every storage could have; on web servers no last part is `index`.
//
// Thread safety: one thread at a time uses a Remote; several may each have their own.
// Failure: a RemoteFailure that says which remote, what is wrong and what to do, and never names a secret. Each
// call ends within the limits' time, whatever the other side does; only a mount that hangs holds a call of file://
// for longer. After a failed put() the object is there
// whole or not at all for get(), and may be listed only if it is there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace cairn::remotes {

enum class Trouble {
    usage,  // the URL, or the remote cannot do this at all, such as write to a plain web server
    unreachable,  // refused, hung, cut, too slow, or answers that make no sense: worth another try later
    denied,       // no credentials, wrong or expired ones, or others' files
    full,         // no space, or a quota
    too_large,  // an object is larger than the caller takes
};

class RemoteFailure : public std::runtime_error {
  public:
    RemoteFailure(Trouble trouble, const std::string &message)
        : std::runtime_error(message), trouble_(trouble) {}
    Trouble trouble() const { return trouble_; }

  private:
    Trouble trouble_;
};

struct Limits {
    std::uint64_t connect_ms = 5'000;
    std::uint64_t call_ms = 60'000;   // a whole call
    std::uint64_t stall_ms = 10'000;  // in which fewer than stall_bytes came or went
    std::uint64_t stall_bytes = 10'000;
    std::uint64_t listed_max = 100'000;  // names in one folder; more are a failure
};

struct Listed {
    std::string name;  // below the folder; of a folder it ends in a slash
    // By the clock of the storage; nullopt: it does not tell.
    std::optional<std::uint64_t> age_s;
};

// Since the Remote was made.
struct Traffic {
    std::uint64_t requests = 0, bytes_in = 0, bytes_out = 0;
};

class Remote {
  public:
    virtual ~Remote() = default;

    // nullopt: there is no such object. One of more than `size_max` bytes is too_large, before that much was read.
    virtual std::optional<std::string> get(const std::string &name, std::uint64_t size_max) = 0;
    virtual void put(const std::string &name, Bytes content) = 0;
    // The objects and folders directly below a folder ("" is the top), in no order. None, where there is no such
    // folder. Names that no object here may have are left out. A folder that has become empty may stay listed.
    virtual std::vector<Listed> list(const std::string &folder) = 0;
    // One that is gone already is no failure.
    virtual void remove(const std::string &name) = 0;

    virtual Traffic traffic() const = 0;
};

bool is_object_name(std::string_view name);
bool is_object_name_part(std::string_view part);

// By its URL: see docs/fleet.md. It may connect with its first call only. A secret in the URL is refused.
std::unique_ptr<Remote> open_remote(const std::string &url, const Limits &limits);

}  // namespace cairn::remotes
