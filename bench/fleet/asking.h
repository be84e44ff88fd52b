// What one machine asks its agent: a process that misses entries, the agent's offers and the packs that it fetches.
// SPDX-License-Identifier: MIT
//
// It is AskingCache, AgentLine and Fetcher in simulated time. The manifests, the wanted file, the offers, the packs
// and the patience of a process are the real ones; only sockets and threads are left out.
//
// Thread safety: one thread. Failure: what cannot be fetched is not there, and is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cache/asking_patience.h"
#include "cache/wanted.h"
#include "holdings.h"
#include "kept_packs.h"
#include "looking.h"
#include "offers.h"
#include "open_remotes.h"
#include "pack/pack_reader.h"
#include "remote_settings.h"
#include "remotes/remote.h"

namespace bench::fleet {

// A std::runtime_error where its URL or its keys are of no use.
cairn::fleet::OpenRemotes open_remote(const cairn::fleet::RemoteSettings &settings);

class Asking {
  public:
    struct Parts {
        std::string root, name;
        cairn::fleet::RemoteSettings settings;
        std::uint64_t most_us = 0;  // `ask_ms`
        // How long a fetch takes that caused this.
        std::function<double(const cairn::remotes::Traffic &)> account;
        std::function<double()> random;
    };

    // The fetcher hears which remotes answer, and is asked for nothing.
    Asking(Parts parts, cairn::fleet::Fetcher &fetcher)
        : parts_(std::move(parts)), looking_(parts_.root, offers_, fetcher), kept_(parts_.root) {}

    // The cache is there.
    void begin_process();
    // The agent reads manifests. Returns how many remotes failed.
    std::size_t look(const cairn::fleet::OpenRemotes &remotes);

    // Of an entry that the process's cache lacks; null: it has to be compiled.
    cairn::BlobRef find(const std::string &key, double now_s);
    void note_compiled(std::uint32_t cost_us) { process_.compile_us.note(cost_us); }
    // Whether the agent was asked for something that it offers since the last call.
    bool take_asked() { return std::exchange(was_asked_, false); }

    std::uint64_t fetches() const { return fetches_; }
    std::uint64_t failures() const { return failures_; }

  private:
    struct Source {
        cairn::fleet::ObjectHash hash;
        double from_s;  // when its answer has come
        std::shared_ptr<const cairn::PackPart> part;
    };
    struct Process {
        cairn::Wanted wanted;
        cairn::AskingPatience patience;
        cairn::Usual compile_us;
        std::vector<Source> sources;
        std::set<std::uint64_t> asked;
        double line_free_s = 0;
    };

    cairn::BlobRef find_in_sources(const std::string &key, double now_s) const;
    // When the answer has come; nullopt: there is none, or not in time.
    std::optional<double> ask(std::uint64_t entry, double now_s);
    std::optional<double> have(const cairn::fleet::PackOffer &offer, double now_s);
    void fetch(const cairn::fleet::PackOffer &offer, double now_s);
    void add_source(const cairn::fleet::PackOffer &offer, double from_s);

    const Parts parts_;
    cairn::fleet::Offers offers_;
    cairn::fleet::Looking looking_;
    const cairn::fleet::KeptPacks kept_;
    std::optional<cairn::fleet::HeldCache> cache_;
    std::map<cairn::fleet::ObjectHash, double> fetched_s_;  // when each was there
    double fetcher_free_s_ = 0;                             // it fetches one after the other
    std::uint64_t fetches_ = 0, failures_ = 0;
    bool was_asked_ = false;
    Process process_;
};

}  // namespace bench::fleet
