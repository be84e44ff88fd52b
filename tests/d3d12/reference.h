// A model of sessions, written from the matrix (docs/conformance/d3d12.md) and nothing else.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Knows one process, caches with limits below 1 MiB or
// beyond reach, and either a perfect hash or one that is a key's length.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "d3d12/api.h"

namespace d3d12_test {

class Reference {
  public:
    explicit Reference(bool has_weak_hash) : has_weak_hash_(has_weak_hash) {}

    // By identifier, mode and flags.
    using Name = std::tuple<unsigned, unsigned, unsigned>;

    // A valid description, valid pointers.
    HRESULT create(const Desc &desc);
    void release(const Desc &desc);
    void delete_on_destroy(const Desc &desc) { cache(desc).is_marked = true; }
    HRESULT find(const Desc &desc, const std::string &key, std::string &value);
    HRESULT store(const Desc &desc, const std::string &key, const std::string &value);
    HRESULT control(unsigned kinds, unsigned flags);

    // As GetDesc tells it.
    static Desc with_defaults(Desc desc);

  private:
    struct Entry {
        std::string key;
        std::string value;
        size_t bytes() const { return key.size() + value.size(); }
    };
    struct Cache {
        Desc desc = {};  // of the session that opened it
        unsigned sessions = 0;
        bool is_marked = false;
        std::list<Entry> entries;  // newest first
    };

    static Name name_of(const Desc &desc) { return {desc.Identifier.Data1, desc.Mode, desc.Flags}; }
    static bool is_on_disk(const Desc &desc) { return desc.Mode == D3D12_SHADER_CACHE_MODE_DISK; }
    Cache &cache(const Desc &desc) { return caches_[name_of(desc)]; }
    bool have_one_hash(const std::string &one, const std::string &other) const {
        return has_weak_hash_ ? one.size() == other.size() : one == other;
    }
    std::list<Entry>::iterator entry_of(Cache &cache, const std::string &key);
    static bool fits(const Cache &cache, const Entry &entry);
    static void evict(Cache &cache);

    const bool has_weak_hash_;
    bool is_disabled_ = false;
    std::map<Name, Cache> caches_;
};

}  // namespace d3d12_test
