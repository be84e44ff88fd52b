// SPDX-License-Identifier: MIT
#include "cache/brokered_cache.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kReconnectAfterNs = 200 * kMillisecond;
constexpr std::uint64_t kWantAgainNs = 20 * kMillisecond;
constexpr unsigned kCloseTimeoutMs = 100;
constexpr int kSliceMs = 10;
// Longer keys cost more to report than a hit is worth.
constexpr std::size_t kHitKeyMax = 1024;
constexpr std::size_t kHitBytesMax = 16384;
constexpr std::size_t kStoreRoom = kMessageSizeMax - kStoreHeadSize;
constexpr std::size_t kDataRoom = kMessageSizeMax - kMessageHeaderSize;
// A broker that sends without end does not keep a caller.
constexpr unsigned kReceiveMax = 256;

Error error_of(Refusal reason) {
    switch (reason) {
        case Refusal::unsupported:
            return Error::unsupported;
        case Refusal::busy:
            return Error::busy;
        case Refusal::denied:
            return Error::denied;
        case Refusal::full:
            return Error::full;
        case Refusal::failed:
            break;
    }
    return Error::io;
}

// The kernel's information on a descriptor that somebody else owns; where there is none, as of an
// empty file.
FileInfo info_of(const UniqueFd &fd) {
    FileInfo found = {};
    found.links = 1;
    File file{UniqueFd(fd.get())};
    if (auto info = file.info(); info.ok()) found = *info;
    (void)file.release();
    return found;
}

bool deleted(const UniqueFd &fd) {
    return info_of(fd).links == 0;
}

Result<File> duplicate(const UniqueFd &fd) {
    TRY_ASSIGN(UniqueFd copy, fd.duplicate());
    return File(std::move(copy));
}

// Waits for the answer to a hello.
Status wait_for_welcome(Channel &channel, Deadline deadline) {
    while (!deadline.has_passed()) {
        const auto incoming = channel.receive();
        if (!incoming.ok() && incoming.error() == Error::busy) {
            channel.socket().wait(Socket::For::reading, kSliceMs);
            continue;
        }
        if (!incoming.ok()) return Error::io;
        if (const auto *refused = std::get_if<Refused>(&incoming->message)) {
            return error_of(refused->reason);
        }
        return std::holds_alternative<Welcome>(incoming->message) ? Status() : Status(Error::io);
    }
    return Error::io;
}

}  // namespace

BrokeredCache::BrokeredCache(BrokerOptions options)
    : options_(std::move(options)), process_(process_number()) {}

BrokeredCache::~BrokeredCache() {
    lent_.reset();
    if (!ours()) return;
    {
        const MutexLock lock(mutex_);
        is_closing_ = true;
    }
    (void)guarded([&]() -> Status {
        try_report_hits();
        send_queued(Deadline::in_ms(kCloseTimeoutMs));
        return {};
    });
    {
        const MutexLock lock(mutex_);
        if (channel_ != nullptr) disconnect();
    }
    sender_.stop();
}

template <typename Step>
CAIRN_ANNOTATION(no_thread_safety_analysis)
void BrokeredCache::exchange(Deadline deadline, Step step) {
    for (;;) {
        std::shared_ptr<Channel> channel;
        Socket::For what = Socket::For::reading;
        {
            const MutexLock lock(mutex_);
            receive();
            send();
            if (step()) return;
            channel = channel_;
            if (!channel->queue_empty()) what = Socket::For::writing;
        }
        if (deadline.has_passed()) return;
        channel->socket().wait(what, kSliceMs);
    }
}

// Of the process that opened it, not of a forked child.
bool BrokeredCache::ours() const {
    return process_number() == process_;
}

// Connecting.

Result<Socket> BrokeredCache::connect(const BrokerOptions &options) {
    const Deadline deadline = Deadline::in_ms(options.timeout_ms);
    TRY_ASSIGN(Socket socket, Socket::connect(options.socket_path));
    // Somebody else's broker could read what is stored.
    TRY_ASSIGN(const std::uint32_t user, socket.peer_user());
    if (user != effective_user()) return Error::denied;
    Channel channel(std::move(socket), kMessageSizeMax, Socket::Descriptors::refuse);
    // One that takes no more clients has closed by now, and said why.
    (void)channel.send(Hello{kProtocolVersion, options.version, options.identifier}, {});
    TRY(wait_for_welcome(channel, deadline));
    return channel.release_socket();
}

Result<std::unique_ptr<BrokeredCache>> BrokeredCache::open(const BrokerOptions &options,
                                                           Socket connected,
                                                           std::uint64_t memory_bytes) {
    std::unique_ptr<BrokeredCache> cache(new (std::nothrow) BrokeredCache(options));
    if (cache == nullptr) return Error::no_memory;
    BrokeredCache &own = *cache;
    {
        const MutexLock lock(own.mutex_);
        own.channel_ = std::make_shared<Channel>(std::move(connected), options.queue_bytes,
                                                 Socket::Descriptors::take);
        (void)own.channel_->enqueue(Start{});
        own.send();
    }
    StoreOptions store;
    Status complete = Error::io;
    own.exchange(Deadline::in_ms(options.timeout_ms), [&]() REQUIRES_LOCK(own.mutex_) {
        if (own.refusal_ != Error::none) complete = own.refusal_;
        if (own.channel_ == nullptr) return true;
        store.identifier = own.welcomed_to_;
        if (own.complete_) complete = {};
        return own.complete_;
    });
    TRY(complete);
    store.any_version = true;  // the broker has opened the right one
    store.access = Access::read_only;
    store.memory_bytes = memory_bytes;
    store.log = options.log;
    store.lent = cache.get();
    auto lent = DiskCache::open(store);
    if (!lent.ok()) return Error::io;
    own.lent_ = std::move(lent.value());
    return cache;
}

void BrokeredCache::disconnect() {
    lost_ += channel_->queued_stores();
    channel_.reset();
    next_attempt_ns_ = monotonic_ns() + kReconnectAfterNs;
    if (!is_closing_) options_.log.write(Severity::warning, "the connection to the broker ended");
}

// Messages can be queued behind the hello at once: a broker that refuses it closes.
void BrokeredCache::reconnect() {
    if (options_.socket_path.empty() || monotonic_ns() < next_attempt_ns_) return;
    next_attempt_ns_ = monotonic_ns() + kReconnectAfterNs;
    auto socket = Socket::connect(options_.socket_path);
    if (!socket.ok()) return;
    channel_ = std::make_shared<Channel>(std::move(socket.value()), options_.queue_bytes,
                                         Socket::Descriptors::take);
    arrived_ = 0;
    pong_ = {};
    last_ping_ = 0;
    (void)channel_->enqueue(Hello{kProtocolVersion, options_.version, options_.identifier});
    (void)channel_->enqueue(Start{});
    send();
    if (channel_ != nullptr) options_.log.write(Severity::info, "connected to the broker again");
}

// Receiving.

bool BrokeredCache::try_receive() {
    if (!ours() || !mutex_.try_lock()) return false;
    const AdoptedLock lock(mutex_);
    receive();
    if (channel_ == nullptr) reconnect();
    return true;
}

void BrokeredCache::receive() {
    for (unsigned i = 0; i < kReceiveMax && channel_ != nullptr; ++i) {
        auto incoming = channel_->receive();
        if (!incoming.ok() && incoming.error() == Error::busy) break;
        if (!incoming.ok() || !accept(incoming.value())) {
            disconnect();
            return;
        }
    }
    if (arrived_ != 0) send();
}

bool BrokeredCache::accept(Channel::Incoming &incoming) {
    if (const auto *welcome = std::get_if<Welcome>(&incoming.message)) {
        welcomed_to_ = welcome->identifier;
        value_size_max_ = welcome->value_size_max;
        return true;
    }
    if (const auto *refused = std::get_if<Refused>(&incoming.message)) {
        refusal_ = error_of(refused->reason);
        return false;
    }
    if (std::holds_alternative<IndexFile>(incoming.message)) {
        ++arrived_;
        accept_index(incoming.descriptors);
        return true;
    }
    if (const auto *segments = std::get_if<SegmentFiles>(&incoming.message)) {
        arrived_ += static_cast<std::uint32_t>(segments->segments.size());
        accept_segments(*segments, incoming.descriptors);
        return true;
    }
    if (std::holds_alternative<Complete>(incoming.message)) {
        complete_ = true;
        return true;
    }
    if (const auto *pong = std::get_if<Pong>(&incoming.message)) {
        pong_ = *pong;
        return true;
    }
    return false;
}

void BrokeredCache::accept_index(std::vector<UniqueFd> &descriptors) {
    if (descriptors.empty()) return;  // this process may have no more
    const MutexLock lock(files_mutex_);
    // The old one is open: no other has its number.
    if (index_.valid() && info_of(index_).inode == info_of(descriptors[0]).inode) return;
    index_ = std::move(descriptors[0]);
    index_changed_ = true;
}

void BrokeredCache::accept_segments(const SegmentFiles &message,
                                    std::vector<UniqueFd> &descriptors) {
    const std::size_t count = std::min(descriptors.size(), message.segments.size());
    const MutexLock lock(files_mutex_);
    for (std::size_t i = 0; i < count; ++i) {
        segments_[message.segments[i]] = std::move(descriptors[i]);
    }
}

// Sending.

void BrokeredCache::send() {
    if (channel_ == nullptr) return;
    if (arrived_ != 0 && channel_->enqueue(Received{arrived_}).ok()) arrived_ = 0;
    const Status status = channel_->flush();
    if (!status.ok() && status.error() != Error::busy) disconnect();
}

Result<PutOutcome> BrokeredCache::put(Bytes key, Bytes value, const PutOptions &options) {
    if (options.if_absent) {
        TRY_ASSIGN(const bool there, lent_->contains(key));
        if (there) return PutOutcome::exists;
    }
    const Status sent = send_store(key, value, options);
    if (!sent.ok()) {
        ++dropped_;
        return sent.error();
    }
    ++accepted_;
    return PutOutcome::stored;
}

Status BrokeredCache::send_store(Bytes key, Bytes value, const PutOptions &options) {
    if (!ours()) return Error::io;
    const MutexLock lock(mutex_);
    receive();
    if (channel_ == nullptr) reconnect();
    if (channel_ == nullptr) return Error::io;
    const std::size_t bytes = key.size() + value.size() + kStoreHeadSize;
    const std::size_t messages = 2 + bytes / kDataRoom;
    const std::size_t headers = messages * kMessageHeaderSize;
    if (value.size() > value_size_max_ || !channel_->could_hold(bytes + headers, messages)) {
        return Error::too_large;
    }
    if (!channel_->has_room(bytes + headers, messages)) send();
    if (channel_ == nullptr || !channel_->has_room(bytes + headers, messages)) {
        return channel_ == nullptr ? Error::io : Error::busy;
    }
    const auto enqueue = [&]() REQUIRES_LOCK(mutex_) {
        enqueue_store(key, value, options);
        return true;
    };
    if (!guarded(enqueue, false)) {
        disconnect();  // a part of it may be queued
        return Error::no_memory;
    }
    send();
    if (channel_ != nullptr && !channel_->queue_empty()) (void)sender_.wake();
    return {};
}

// REQUIRES: there is room for all of it.
void BrokeredCache::enqueue_store(Bytes key, Bytes value, const PutOptions &options) {
    std::vector<std::byte> whole;
    whole.reserve(key.size() + value.size());
    whole.insert(whole.end(), key.begin(), key.end());
    whole.insert(whole.end(), value.begin(), value.end());
    StoreHead head;
    if (options.if_absent) head.flags |= StoreHead::kIfAbsent;
    if (options.pinned) head.flags |= StoreHead::kPinned;
    head.cost_us = options.cost_us;
    head.key_size = static_cast<std::uint32_t>(key.size());
    head.value_size = static_cast<std::uint32_t>(value.size());
    Bytes left = whole;
    head.data = left.first(std::min(left.size(), kStoreRoom));
    left = left.subspan(head.data.size());
    (void)channel_->enqueue(head);
    while (!left.empty()) {
        const Bytes piece = left.first(std::min(left.size(), kDataRoom));
        left = left.subspan(piece.size());
        (void)channel_->enqueue(StoreData{piece});
    }
}

void BrokeredCache::send_queued(Deadline deadline) {
    exchange(deadline, [&]() REQUIRES_LOCK(mutex_) {
        return channel_ == nullptr || channel_->queue_empty();
    });
}

Status BrokeredCache::flush(std::uint64_t patience_us) {
    if (!ours()) return Error::io;
    try_report_hits();
    std::uint64_t number = 0;
    Status done = Error::busy;
    exchange(Deadline::in_us(patience_us), [&]() REQUIRES_LOCK(mutex_) {
        if (channel_ == nullptr) reconnect();
        if (channel_ != nullptr) {
            if (number == 0 && channel_->enqueue(Ping{last_ping_ + 1}).ok()) number = ++last_ping_;
            send();
        }
        if (channel_ == nullptr || last_ping_ < number) {
            done = Error::io;
        } else if (number != 0 && pong_.number >= number) {
            done = {};
        }
        return done.ok() || done.error() == Error::io;
    });
    return done;
}

BrokerStats BrokeredCache::broker_stats() {
    BrokerStats stats = {};
    stats.accepted = accepted_.load();
    stats.dropped = dropped_.load();
    stats.lost = lost_.load();
    stats.hits_reported = hits_reported_.load();
    if (!ours()) return stats;
    const MutexLock lock(mutex_);
    receive();
    stats.connected = channel_ != nullptr;
    stats.queued_bytes = channel_ != nullptr ? channel_->queued_bytes() : 0;
    stats.stored = pong_.stored;
    stats.refused = pong_.refused;
    return stats;
}

CacheStats BrokeredCache::stats() {
    CacheStats stats = lent_->stats();
    stats.broker = broker_stats();
    stats.puts = stats.broker->accepted;
    stats.puts_refused = stats.broker->dropped;
    return stats;
}

// Recency. Only entries whose slot does not say yet that they are used often come here.

void BrokeredCache::note_hit(Bytes key) {
    if (key.size() > kHitKeyMax || !hits_mutex_.try_lock()) return;
    const AdoptedLock lock(hits_mutex_);
    hit_bytes_.insert(hit_bytes_.end(), key.begin(), key.end());
    hit_sizes_.push_back(key.size());
    if (hit_sizes_.size() == kHitsMax || hit_bytes_.size() > kHitBytesMax) report_hits();
}

void BrokeredCache::try_report_hits() {
    if (!hits_mutex_.try_lock()) return;
    const AdoptedLock lock(hits_mutex_);
    report_hits();
}

void BrokeredCache::report_hits() {
    Hits message;
    Bytes left = hit_bytes_;
    for (const std::size_t size : hit_sizes_) {
        message.keys.push_back(left.first(size));
        left = left.subspan(size);
    }
    // A batch is not worth waiting for.
    if (!message.keys.empty() && ours() && mutex_.try_lock()) {
        const AdoptedLock lock(mutex_);
        if (channel_ != nullptr && channel_->enqueue(message).ok()) {
            hits_reported_ += message.keys.size();
            send();
        }
    }
    hit_bytes_.clear();
    hit_sizes_.clear();
}

// Files.

Result<File> BrokeredCache::index() {
    const MutexLock lock(files_mutex_);
    index_changed_ = false;
    return duplicate(index_);
}

bool BrokeredCache::index_changed() {
    (void)try_receive();
    const MutexLock lock(files_mutex_);
    return index_changed_;
}

Result<File> BrokeredCache::lent_segment(std::uint32_t segment) {
    const MutexLock lock(files_mutex_);
    const auto found = segments_.find(segment);
    if (found == segments_.end()) return Error::busy;
    if (deleted(found->second)) {
        // Another one may have its number now.
        segments_.erase(found);
        return Error::busy;
    }
    return duplicate(found->second);
}

Result<File> BrokeredCache::segment(std::uint32_t segment) {
    auto file = lent_segment(segment);
    if (file.ok() || !try_receive()) return file;
    file = lent_segment(segment);
    if (file.ok() || !mutex_.try_lock()) return file;
    const AdoptedLock lock(mutex_);
    const std::uint64_t now = monotonic_ns();
    if (channel_ != nullptr && (wanted_ != segment || now - wanted_ns_ > kWantAgainNs)) {
        wanted_ = segment;
        wanted_ns_ = now;
        (void)channel_->enqueue(Want{segment});
        send();
    }
    return file;
}

void BrokeredCache::forget_deleted() {
    (void)try_receive();
    const MutexLock lock(files_mutex_);
    std::erase_if(segments_, [](const auto &entry) { return deleted(entry.second); });
}

std::uint64_t BrokeredCache::disk_bytes() {
    (void)try_receive();
    const MutexLock lock(files_mutex_);
    std::uint64_t bytes = info_of(index_).disk_bytes;
    for (const auto &[number, lent] : segments_) bytes += info_of(lent).disk_bytes;
    return bytes;
}

}  // namespace cairn
