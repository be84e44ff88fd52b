// Finds packs for questions: those that are kept at once, and fetches the others, one after the other.
// SPDX-License-Identifier: MIT
//
// It has remotes and a thread of its own, as the thread of jobs may wait for a remote for a minute. A
// remote that failed is left alone until manifests were read from it again, which the schedule decides.
//
// Thread safety: any thread.
// Failure: what cannot be fetched is not there, and the log says why.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "kept_packs.h"
#include "offers.h"
#include "os/file.h"
#include "os/worker.h"
#include "questions.h"

namespace cairn::fleet {

class Fetcher final : public agent::Packs {
  public:
    static constexpr std::size_t kQueueMax = 64;

    Fetcher(std::string root, const Offers &offers, const Log &log);
    ~Fetcher() override;
    Fetcher(const Fetcher &) = delete;
    Fetcher &operator=(const Fetcher &) = delete;

    Found find(const AgentQuestion &question) override;
    State state_of(const KeptPackName &pack) override;
    int changed_fd() const override { return changed_.get(); }

    // An eventfd, and the names that questions were about since the last call.
    int asked_fd() const { return asked_fd_.get(); }
    std::vector<std::string> take_asked();
    // A remote may hold it for as long as a call takes.
    bool is_fetching();
    // Manifests were read from this remote: it answers again.
    void note_read(const std::string &remote);
    // The offers are others now: what was lacking may be there.
    void note_news();

  private:
    void work();
    void fetch(const PackOffer &offer);
    State begin(const PackOffer &offer);
    bool is_kept(const KeptPackName &pack);

    const std::string root_;
    const Offers &offers_;
    const Log log_;
    const KeptPacks kept_;
    UniqueFd changed_, asked_fd_;

    std::mutex mutex_;
    std::deque<PackOffer> queue_;       // the first one is at work
    std::set<std::string> left_alone_;  // remotes
    std::set<KeptPackName> lacking_;    // what was not there, or did not count
    // By this process: what others have kept may be damaged since.
    std::set<KeptPackName> verified_;
    std::set<std::string> asked_;
    cairn::Worker thread_;  // last: it uses the others
};

}  // namespace cairn::fleet
