// A cache behind a broker: look-ups in files that the broker lends, stores as messages to it.
// SPDX-License-Identifier: MIT
//
// Reading goes on without the broker, in what has been lent. A connection that ended is made anew
// where its path is known, with the next store or the next look-up that lacks something.
//
// Other changes are unsupported.
//
// Thread safety: all methods may be called from any thread. None waits but open, flush and the
// destructor, each for a bounded time. Forking: the child of a fork reads on in what there is; its
// stores are dropped. The connection is its parent's.
// Ownership: owns the connection, the descriptors, and a thread while the broker reads slowly.
// Failure: io: the broker is gone. busy: the queue is full; nothing of that store was taken.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "cache/disk_cache.h"
#include "ipc/channel.h"
#include "os/deadline.h"
#include "os/socket.h"
#include "os/worker.h"
#include "store/lent_files.h"
#include "store/store.h"

namespace cairn {

struct BrokerOptions {
    std::string socket_path;  // "": a connection that ended is not made anew
    std::string identifier;
    std::uint64_t version = 0;
    std::uint64_t queue_bytes = 0;  // of stores that wait to be sent
    unsigned timeout_ms = 0;        // of open
    Log log;
};

class BrokeredCache final : public Cache, private LentFiles {
  public:
    // Connects, and binds the connection to a cache: what is then handed to open(). not_found: no
    // broker there; denied, busy, full, unsupported: refused; io: it did not answer in time.
    static Result<Socket> connect(const BrokerOptions &options);
    // Waits until the descriptors have come. Uses nothing but the connection and what comes by it.
    static Result<std::unique_ptr<BrokeredCache>> open(const BrokerOptions &options,
                                                       Socket connected,
                                                       std::uint64_t memory_bytes);
    ~BrokeredCache() override;

    Result<BlobRef> get(Bytes key) override { return lent_->get(key); }
    Result<std::optional<std::uint64_t>> get_into(Bytes key, MutableBytes buffer) override {
        return lent_->get_into(key, buffer);
    }
    Result<bool> contains(Bytes key) override { return lent_->contains(key); }
    // Taken into the queue. That exactly one of several finds the key absent does not hold.
    // too_large: the broker takes no such value, or the queue can never hold it.
    Result<PutOutcome> put(Bytes key, Bytes value, const PutOptions &options) override;
    // Waits until the broker has done everything that was put before.
    Status flush(std::uint64_t patience_us) override;
    Status sync() override { return Error::unsupported; }
    Status compress() override { return Error::unsupported; }
    CacheStats stats() override;
    void enumerate(const Visit &visit) override { lent_->enumerate(visit); }

  private:
    // LentFiles.
    Result<File> index() override;
    bool index_changed() override;
    Result<File> segment(std::uint32_t segment) override;
    void forget_deleted() override;
    void note_hit(Bytes key) override;
    std::uint64_t disk_bytes() override;

    explicit BrokeredCache(BrokerOptions options);

    // Receives and sends, and calls `step` with the mutex held, again and again, until that returns
    // true or the deadline has passed. `step` returns true where there is no connection.
    template <typename Step>
    void exchange(Deadline deadline, Step step);
    bool ours() const;
    bool try_receive();
    void receive() REQUIRES_LOCK(mutex_);
    bool accept(Channel::Incoming &incoming) REQUIRES_LOCK(mutex_);
    void accept_index(std::vector<UniqueFd> &descriptors);
    void accept_segments(const SegmentFiles &message, std::vector<UniqueFd> &descriptors);
    void send() REQUIRES_LOCK(mutex_);
    void disconnect() REQUIRES_LOCK(mutex_);
    void reconnect() REQUIRES_LOCK(mutex_);
    void enqueue_store(Bytes key, Bytes value, const PutOptions &options) REQUIRES_LOCK(mutex_);
    Status send_store(Bytes key, Bytes value, const PutOptions &options);
    void report_hits() REQUIRES_LOCK(hits_mutex_);
    void try_report_hits();
    void send_queued(Deadline deadline);
    BrokerStats broker_stats();
    Result<File> lent_segment(std::uint32_t segment);

    // Constant after open.
    const BrokerOptions options_;
    const std::uint64_t process_;

    // Held for system calls that do not wait.
    Mutex mutex_;
    std::shared_ptr<Channel> channel_ GUARDED_BY(mutex_);  // null: not connected
    std::uint64_t next_attempt_ns_ GUARDED_BY(mutex_) = 0;
    std::string welcomed_to_ GUARDED_BY(mutex_);
    std::uint64_t value_size_max_ GUARDED_BY(mutex_) = 0;
    bool complete_ GUARDED_BY(mutex_) = false;
    Error refusal_ GUARDED_BY(mutex_) = Error::none;
    std::uint32_t arrived_ GUARDED_BY(mutex_) = 0;  // descriptors of which the broker is to be told
    std::uint64_t last_ping_ GUARDED_BY(mutex_) = 0;
    Pong pong_ GUARDED_BY(mutex_);
    std::uint32_t wanted_ GUARDED_BY(mutex_) = 0;  // the segment that was asked for last, and when
    std::uint64_t wanted_ns_ GUARDED_BY(mutex_) = 0;
    bool is_closing_ GUARDED_BY(mutex_) = false;  // the log says nothing more

    // Held for moments; taken last.
    Mutex files_mutex_;
    UniqueFd index_ GUARDED_BY(files_mutex_);
    bool index_changed_ GUARDED_BY(files_mutex_) = false;
    std::map<std::uint32_t, UniqueFd> segments_ GUARDED_BY(files_mutex_);

    TryMutex hits_mutex_;
    std::vector<std::byte> hit_bytes_ GUARDED_BY(hits_mutex_);
    std::vector<std::size_t> hit_sizes_ GUARDED_BY(hits_mutex_);

    std::atomic<std::uint64_t> accepted_ = 0, dropped_ = 0, lost_ = 0, hits_reported_ = 0;

    // Sends what the kernel does not take at once, and ends when all of it is sent. Where there can
    // be no thread, the next call goes on.
    Worker sender_{[this] { send_queued(Deadline::never()); }};
    std::unique_ptr<DiskCache> lent_;  // last: it reads through the others
};

}  // namespace cairn
