// SPDX-License-Identifier: MIT
#include "fetcher.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <stdexcept>

#include "fetching.h"
#include "machine.h"
#include "open_remotes.h"
#include "remote_settings.h"
#include "shelf.h"

namespace cairn::fleet {
namespace {

constexpr std::size_t kLackingMax = 4096;
constexpr std::size_t kVerifiedMax = 4096;

void tell(const UniqueFd &event) {
    const std::uint64_t one = 1;
    (void)!::write(event.get(), &one, sizeof one);
}

}  // namespace

Fetcher::Fetcher(std::string root, const Offers &offers, const Log &log)
    : root_(std::move(root)),
      offers_(offers),
      log_(log),
      kept_(root_),
      changed_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      asked_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { work(); }) {
    if (!changed_.valid() || !asked_fd_.valid()) {
        throw std::runtime_error("the system has no more descriptors");
    }
}

Fetcher::~Fetcher() {
    const std::lock_guard lock(mutex_);
    if (queue_.size() > 1) queue_.resize(1);
}

agent::Packs::Found Fetcher::find(const AgentQuestion &question) {
    if (question.root != root_) return {};
    const auto offer = offers_.find(question.identifier, question.entry);
    if (!offer) return {};
    {
        const std::lock_guard lock(mutex_);
        if (asked_.insert(offer->name).second) tell(asked_fd_);
    }
    if (is_kept(offer->hash)) return {State::kept, offer->hash};
    return {begin(*offer), offer->hash};
}

// Has it fetched, unless it is being fetched already.
agent::Packs::State Fetcher::begin(const PackOffer &offer) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(queue_, offer.hash, &PackOffer::hash) != queue_.end()) {
        return State::coming;
    }
    if (queue_.size() >= kQueueMax || left_alone_.contains(offer.remote) ||
        lacking_.contains(offer.hash)) {
        return State::none;
    }
    queue_.push_back(offer);
    if (thread_.wake()) return State::coming;
    queue_.pop_back();
    return State::none;
}

agent::Packs::State Fetcher::state_of(const KeptPackName &pack) {
    {
        const std::lock_guard lock(mutex_);
        if (std::ranges::find(queue_, pack, &PackOffer::hash) != queue_.end()) {
            return State::coming;
        }
    }
    return is_kept(pack) ? State::kept : State::none;
}

bool Fetcher::is_kept(const KeptPackName &pack) {
    {
        const std::lock_guard lock(mutex_);
        if (!verified_.contains(pack)) return false;
    }
    return kept_.has(pack);
}

std::vector<std::string> Fetcher::take_asked() {
    std::uint64_t ignored = 0;
    (void)!::read(asked_fd_.get(), &ignored, sizeof ignored);
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names(asked_.begin(), asked_.end());
    asked_.clear();
    return names;
}

bool Fetcher::is_fetching() {
    const std::lock_guard lock(mutex_);
    return !queue_.empty();
}

void Fetcher::note_read(const std::string &remote) {
    const std::lock_guard lock(mutex_);
    left_alone_.erase(remote);
}

void Fetcher::note_news() {
    const std::lock_guard lock(mutex_);
    lacking_.clear();
}

void Fetcher::work() {
    for (;;) {
        PackOffer offer;
        {
            const std::lock_guard lock(mutex_);
            if (queue_.empty() || thread_.is_stopping()) return;
            offer = queue_.front();
        }
        bool is_left_alone = false, is_lacking = false;
        try {
            fetch(offer);
        } catch (const remotes::RemoteFailure &failure) {
            log_.write(Severity::warning, "%s: %s", offer.remote.c_str(), failure.what());
            is_left_alone = true;
        } catch (const std::exception &failure) {
            log_.write(Severity::warning, "%s: %s", offer.remote.c_str(), failure.what());
            is_lacking = true;
        }
        {
            const std::lock_guard lock(mutex_);
            queue_.pop_front();
            if (is_left_alone) left_alone_.insert(offer.remote);
            if (is_lacking && lacking_.size() < kLackingMax) lacking_.insert(offer.hash);
            if (verified_.size() >= kVerifiedMax) verified_.clear();
            if (!is_left_alone && !is_lacking) verified_.insert(offer.hash);
        }
        tell(changed_);
    }
}

// The settings and the keys are read anew: what counted when the manifest was read may not count now.
void Fetcher::fetch(const PackOffer &offer) {
    std::vector<RemoteSettings> settings = configured_remotes();
    std::erase_if(settings, [&](const RemoteSettings &each) {
        return each.name != offer.remote || !each.reads;
    });
    std::vector<RemoteTrouble> troubles;
    const OpenRemotes remotes = open_remotes(settings, troubles);
    if (remotes.empty()) {
        throw std::runtime_error(troubles.empty() ? "it is not configured any more"
                                                  : troubles.front().problem);
    }
    OpenRemote &remote = *remotes.front();
    if (!remote.trust().counts(offer.signer)) throw std::runtime_error("its signer is not trusted");
    const Machine machine(root_);
    Shelf shelf(remote, machine, offer.name, driver_name(offer.driver_text));
    // One that was kept before, such as by a pull, only has to be what it was.
    if (shelf.kept(offer.hash, offer.signer)) return;
    ListedPack listed;
    listed.hash = offer.hash;
    listed.size_bytes = offer.size_bytes;
    const auto file = fetch_pack(shelf, listed, offer.signer, offer.name, offer.driver_text);
    if (!file) {
        throw std::runtime_error(shelf.problems().empty() ? "a pack is too large"
                                                          : shelf.problems().front());
    }
    if (!kept_.keep(offer.hash, file->path())) throw std::runtime_error("a pack cannot be kept");
}

}  // namespace cairn::fleet
