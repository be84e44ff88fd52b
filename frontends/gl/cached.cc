// SPDX-License-Identifier: MIT
#include "cached.h"

#include <cairn/cairn_program_cache.h>
#include <cairn/internal/front_end.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "account.h"
#include "base/bytes.h"
#include "caches.h"
#include "common/crash_guard.h"
#include "common/run_report.h"
#include "context.h"
#include "entry.h"
#include "os/file.h"
#include "os/text_file.h"
#include "settings.h"

namespace cairn::gl {
namespace {

// Adds the line "KEY SIZE_BYTES COST_US" for bench/policy_sim, if `cairn run --trace` asked for it;
// the cost is what a miss costs. A line that cannot be written is lost. The file is opened for each
// line, so that an application that closes descriptors it does not know never has ours.
void trace_entry(std::string_view key, size_t size_bytes, uint64_t cost_ns) {
    const std::string &path = settings().trace;
    if (path.empty()) return;
    const int saved_errno = errno;
    constexpr size_t kKeySizeMax = 32;
    append_to_file(path, hexadecimal(as_bytes(key.substr(0, kKeySizeMax))) + " " +
                             std::to_string(size_bytes) + " " + std::to_string(cost_ns / 1000) +
                             "\n");
    errno = saved_errno;
}

// A link puts the hint that was set before into effect; not every driver's glProgramBinary does,
// and the binary may be of a program with another one.
void check_hint(const Context &context, Program &program) {
    program.cached_hint.reset();
    if (context.has_hint && program_value(context.gl(), program.name,
                                          GL_PROGRAM_BINARY_RETRIEVABLE_HINT) != program.hint) {
        program.cached_hint = program.hint;
    }
}

enum class Taken { yes, damaged, refused };

// Gives the driver the binary of an entry.
// REQUIRES: the program is locked.
Taken load(Context &context, Program &program, const ProgramKey &key,
           std::span<const std::byte> bytes) {
    auto entry = decode_program(bytes);
    if (!entry) return Taken::damaged;
    bool is_taken = false;
    // An unknown format would be a GL error, and the application would see it.
    if (context.has_format(entry->format)) {
        // If the driver crashes meanwhile, the next process drops the entry.
        const DriverHasBinary noted;
        uint32_t ticket = 0;
        (void)cairn_use_begin(context.cache, key.data(), key.size(), &ticket);
        context.program_binary(program.name, entry->format, entry->binary.data(),
                               static_cast<GLsizei>(entry->binary.size()));
        is_taken = program_value(context.gl(), program.name, GL_LINK_STATUS) != GL_FALSE;
        cairn_use_end(context.cache, ticket);
    }
    if (!is_taken) {
        count(&RunReport::rejected);
        log().write(Severity::warning, "program %u: the driver refuses a binary of %zu bytes",
                    program.name, entry->binary.size());
        return Taken::refused;
    }
    program.cached_report = std::move(entry->report);
    program.was_linked = true;
    check_hint(context, program);
    count(&RunReport::hits);
    count(&RunReport::bytes_read, entry->binary.size());
    context.account->add(Number::bytes_read, entry->binary.size());
    return Taken::yes;
}

Outcome outcome_of(Taken taken) {
    return taken == Taken::refused ? Outcome::refused : Outcome::damaged;
}

// From memory, which may hold the application's bytes: no driver sees an entry that is
// not whole, and an entry that the driver refuses is removed.
Taken load_from_memory(Context &context, Program &program, const ProgramKey &key,
                       const Found &found) {
    const auto bytes = found.bytes();
    Taken taken = Taken::damaged;
    if (cairn_egl_entry_check(key.data(), key.size(), bytes.data(), bytes.size()) != CAIRN_OK) {
        count(&RunReport::rejected);
        log().write(Severity::warning, "program %u: its entry of %zu bytes is not one of ours",
                    program.name, bytes.size());
    } else {
        taken = load(context, program, key, bytes);
    }
    if (taken != Taken::yes) context.programs->remove(key);
    return taken;
}

}  // namespace

Found::Found(cairn_cache *cache, std::string_view key) {
    if (cache != nullptr && cairn_get(cache, key.data(), key.size(), &blob_) != CAIRN_OK) {
        blob_ = nullptr;
    }
    if (blob_ != nullptr) {
        trace_entry(key, bytes().size(), cost_ns());
    }
}

Found::Found(cairn_cache *cache, uint64_t index, ProgramKey &key) {
    size_t size = 0;
    if (cairn_get_nth(cache, index, key.data(), key.size(), &size, &blob_) != CAIRN_OK) {
        blob_ = nullptr;
    }
}

std::span<const std::byte> Found::bytes() const {
    if (blob_ == nullptr) return {};
    return {static_cast<const std::byte *>(cairn_blob_data(blob_)), cairn_blob_size(blob_)};
}

bool Found::is_of_pack() const {
    return blob_ != nullptr && cairn_blob_is_of_pack(blob_) != 0;
}

NewEntry new_entry(std::string_view key, std::string_view value, uint64_t cost_ns) {
    const auto cost_us = static_cast<uint32_t>(std::min<uint64_t>(cost_ns / 1000, UINT32_MAX));
    return NewEntry(cairn_blob_make(key.data(), key.size(), value.data(), value.size(), cost_us));
}

Stored store(cairn_cache *cache, std::string_view key, const NewEntry &entry) {
    // Caching may have been switched off since the look-up.
    if (!is_caching_on()) return Stored::no;
    const int result =
        entry == nullptr ? CAIRN_ERROR_NO_MEMORY : cairn_put_blob(cache, entry.get());
    const bool stored = result == CAIRN_OK;
    const size_t size = cairn_blob_size(entry.get());
    count(stored ? &RunReport::stored : &RunReport::store_failed);
    trace_entry(key, size, uint64_t{cairn_blob_cost_us(entry.get())} * 1000);
    if (!stored) {
        log().write(Severity::warning, "an entry of %zu bytes is not stored: %s", size,
                    cairn_result_string(result));
        note_problem(kProblemNotStored, cairn_result_string(result));
    }
    return stored ? Stored::yes : result == CAIRN_KEPT_OUT ? Stored::kept_out : Stored::no;
}

bool has_cached(const Context &context, const ProgramKey &key) {
    const auto is_in = [&key](cairn_cache *cache) {
        return cache != nullptr && cairn_contains(cache, key.data(), key.size()) == CAIRN_OK;
    };
    return is_in(context.programs->entries()) || is_in(context.cache);
}

Turn take_turn(const Context &context, const ProgramKey &key, bool &is_late) {
    const auto patience_ms = static_cast<uint32_t>(settings().lease_ms);
    cairn_lease *lease = nullptr;
    // Most programs are there, and to ask costs less than a lease does.
    if (patience_ms != 0 && context.cache != nullptr && is_caching_on() &&
        !has_cached(context, key)) {
        is_late = cairn_lease_acquire(context.cache, key.data(), key.size(), patience_ms, &lease) ==
                  CAIRN_ERROR_BUSY;
    }
    return Turn(lease);
}

Loaded load_cached(Context &context, Program &program, const ProgramKey &key) {
    Loaded loaded;
    if (const Found in_memory(context.programs->entries(), bytes_of(key)); in_memory) {
        const Taken taken = load_from_memory(context, program, key, in_memory);
        if (taken == Taken::yes) return {Outcome::hit_memory, in_memory.cost_ns()};
        loaded.outcome = outcome_of(taken);
    }
    if (const Found on_disk(context.cache, bytes_of(key)); on_disk) {
        const Taken taken = load(context, program, key, on_disk.bytes());
        if (taken == Taken::yes) {
            const bool is_of_pack = on_disk.is_of_pack();
            context.programs->put_stored(on_disk.get());
            return {is_of_pack ? Outcome::hit_pack : Outcome::hit_disk, on_disk.cost_ns()};
        }
        loaded.outcome = outcome_of(taken);
    }
    if (loaded.outcome == Outcome::never_seen) count(&RunReport::misses);
    return loaded;
}

bool store_linked(Context &context, const ProgramKey &key, const Linked &made, uint64_t cost_ns) {
    if (made.size == 0) return false;
    cairn_egl_entry_seal(key.data(), key.size(), made.bytes.get(), made.size);
    const NewEntry entry = new_entry(bytes_of(key), {made.bytes.get(), made.size}, cost_ns);
    Stored stored = Stored::no;
    if (context.cache != nullptr) {
        stored = store(context.cache, bytes_of(key), entry);
    }
    if (stored == Stored::yes) {
        count(&RunReport::bytes_written, made.binary_size);
        context.account->add(Number::bytes_written, made.binary_size);
    }
    if (stored == Stored::yes) {
        context.account->add(Number::stored, 1);
    } else if (stored == Stored::no && context.cache != nullptr && is_caching_on()) {
        context.account->add(Number::store_failed, 1);
    }
    // The driver links a program each time if drivers have died with its binary.
    if (stored != Stored::kept_out) {
        context.programs->put(entry.get());
    }
    return stored == Stored::yes;
}

}  // namespace cairn::gl
