// What becomes of the links of an application, in the accounts of their caches: docs/why.md.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread. Ownership: as the caches, an account lives as long as the process.
// Failure: as an Account's; nothing throws.
#pragma once

#include <cairn/cairn.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "common/account.h"
#include "key.h"

namespace cairn::gl {

struct Context;
struct Call;

// Of a cache on disk for a driver of this identity. Lives as long as the process.
Account *new_account(cairn_cache *cache, std::string_view identity);
// Of contexts whose programs nobody remembers, and why.
Account *new_account(Detail unknown_because);

// The account of contexts that have no cache.
Account &account_of_none();
// The one in which their links are counted: that of the first cache, if there is any.
Account &account_of_process();

// A program that was looked for.
struct LookedFor {
    const ProgramKey &key;
    uint64_t sources;  // a digest
    std::span<const Call> settings;
};

// Why a program was not found. `found` says what is known already: never_seen if nothing is.
Link why_missed(Context &context, const LookedFor &wanted, Outcome found);
// The same for a link of a kind that is not cached.
Link not_cacheable(Detail why);

// A program that was found, which it had cost `cost_ns` to make; now it took `spent_ns`.
void account_hit(Context &context, const LookedFor &wanted, Outcome outcome, uint64_t cost_ns,
                 uint64_t spent_ns);
// A program that the driver made. `wanted`: null where it is of a kind that is not cached. `is_kept`:
// it is in the cache now.
void account_made(Context *context, const LookedFor *wanted, Link link, uint64_t spent_ns,
                  bool is_kept);

// The driver makes a program while this lives.
class Making {
  public:
    explicit Making(Context &context);
    ~Making();
    Making(const Making &) = delete;
    Making &operator=(const Making &) = delete;

  private:
    History *const history_;
};

}  // namespace cairn::gl
