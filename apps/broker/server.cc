// SPDX-License-Identifier: MIT
#include "server.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "os/environment.h"

namespace cairn::broker {
namespace {

// Places in what wait() returns.
constexpr std::size_t kEnd = 0, kListener = 1, kChanges = 2, kFirstClient = 3;
constexpr int kPausedMs = 20;
constexpr int kTickMs = 1000;
constexpr std::uint64_t kAcceptAgainNs = 500'000'000;
constexpr std::uint32_t kWatched =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW;

Refusal refusal_of(int result) {
    switch (result) {
        case CAIRN_ERROR_BUSY:
            return Refusal::busy;
        case CAIRN_ERROR_DENIED:
            return Refusal::denied;
        default:
            return Refusal::failed;
    }
}

}  // namespace

// Returns what is ready, in the order of kEnd, kListener, kChanges and the clients.
std::vector<pollfd> Server::wait(int until_readable) {
    const bool accepts = monotonic_ns() >= accept_again_ns_;
    int timeout_ms = !accepts ? kPausedMs : clients_.empty() ? -1 : kTickMs;
    // The kernel passes over descriptors that are below zero.
    std::vector<pollfd> waited = {{until_readable, POLLIN, 0},
                                  {accepts ? listener_.socket().fd() : -1, POLLIN, 0},
                                  {changes_.get(), POLLIN, 0}};
    for (Connection &client : clients_) {
        const bool is_paused = client.over_quota(monotonic_ns());
        if (is_paused) timeout_ms = kPausedMs;
        const int events = POLLIN | (client.wants_to_write() ? POLLOUT : 0);
        waited.push_back({is_paused ? -1 : client.socket().fd(), static_cast<short>(events), 0});
    }
    const bool is_failed = ::poll(waited.data(), waited.size(), timeout_ms) < 0 && errno != EINTR;
    if (is_failed) sleep_us(kPausedMs * 1000);  // as without memory
    return waited;
}

void Server::run(int until_readable) {
    changes_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!changes_.valid()) {
        log_.write(Severity::info,
                   "no inotify: what other programs store is lent when it is asked for");
    }
    log_.write(Severity::info, "serving the caches below %s", settings_.root.c_str());
    for (bool ends = false; !ends;) {
        const std::vector<pollfd> ready = wait(until_readable);
        ends = ready[kEnd].revents != 0;
        auto next = ready.begin() + kFirstClient;
        end_unless([&](Connection &client) {
            const short events = (next++)->revents;
            const bool is_readable = (events & (POLLIN | POLLHUP | POLLERR)) != 0;
            if (is_readable && !client.read(monotonic_ns())) return false;
            // Some clients acknowledged descriptors before they took them in.
            return (events == 0 && !client.acknowledged_early()) || client.write();
        });
        if (ready[kListener].revents != 0) accept_clients();
        if (ready[kChanges].revents != 0) read_changes();
        end_unless([now = monotonic_ns()](Connection &client) {
            return client.over_quota(now) || !client.overdue(now);
        });
        lend_changes();
        close_unused();
    }
    log_.write(Severity::info, "ending");
}

// Clients.

void Server::accept_clients() {
    for (;;) {
        auto socket = listener_.socket().accept();
        if (socket.ok()) {
            accept_client(std::move(socket.value()));
            continue;
        }
        if (socket.error() == Error::busy) return;
        // Without descriptors the listener would be ready all the time.
        log_.write(Severity::info, "cannot take a client: %s", std::strerror(errno));
        accept_again_ns_ = monotonic_ns() + kAcceptAgainNs;
        return;
    }
}

void Server::accept_client(Socket socket) {
    const auto user = socket.peer_user();
    if (!user.ok() || user.value() != effective_user()) {
        log_.write(Severity::info, "a client of another user was turned away");
        return;
    }
    std::erase_if(leaving_, [](const Socket &left) { return left.drained(); });
    if (clients_.size() + leaving_.size() >= settings_.clients_max) {
        log_.write(Severity::info, "a client was turned away: there are %u", settings_.clients_max);
        (void)socket.send(encode_message(Refused{Refusal::full}));
        return;
    }
    clients_.emplace_back(*this, settings_, std::move(socket), ++last_number_, monotonic_ns());
}

template <typename Keep>
void Server::end_unless(Keep keep) {
    for (auto client = clients_.begin(); client != clients_.end();) {
        if (keep(*client)) {
            ++client;
            continue;
        }
        if (auto socket = client->release_if_in_flight()) {
            socket->shut_down();
            leaving_.push_back(std::move(*socket));
        }
        client = clients_.erase(client);
    }
}

bool Server::reserve_unfinished(std::uint64_t bytes) {
    if (unfinished_bytes_ + bytes > kUnfinishedBytesMax) return false;
    unfinished_bytes_ += bytes;
    return true;
}

// Caches.

SharedCache *Server::open_cache(const std::string &identifier, std::uint64_t version,
                                Refusal &refusal) {
    // The C interface would cut it off there. It checks everything else.
    if (identifier.find('\0') != std::string::npos) return nullptr;
    // close_unused() removes it if it stays without use.
    SharedCache &cache = caches_.try_emplace(identifier, settings_, identifier).first->second;
    if (cache.is_open()) {
        if (cache.version() == version) {
            cache.refresh();  // its directory may be another one by now
            watch(cache);
            return &cache;
        }
        refusal = Refusal::busy;
        return nullptr;
    }
    const int result = cache.open(version);
    if (result != CAIRN_OK) {
        log_.write(Severity::info, "cannot open a cache for a client: %s",
                   cairn_result_string(result));
        refusal = refusal_of(result);
        return nullptr;
    }
    watch(cache);
    return &cache;
}

// The directory of the cache, which may be another one than before.
void Server::watch(SharedCache &cache) {
    if (!changes_.valid() || cache.is_watched) return;
    if (cache.watch >= 0) ::inotify_rm_watch(changes_.get(), cache.watch);
    cache.watch = ::inotify_add_watch(changes_.get(), cache.path().c_str(), kWatched);
    cache.is_watched = true;
    cache.stale = true;  // a file may have changed before the watch was there
}

void Server::read_changes() {
    alignas(inotify_event) std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t count = ::read(changes_.get(), buffer.data(), buffer.size());
        if (count <= 0) return;
        for (const char *next = buffer.data(); next < buffer.data() + count;) {
            const auto *event = reinterpret_cast<const inotify_event *>(next);
            const bool overflow = (event->mask & IN_Q_OVERFLOW) != 0;
            for (auto &[identifier, cache] : caches_) {
                if (overflow || cache.watch == event->wd) cache.stale = true;
            }
            next += sizeof(inotify_event) + event->len;
        }
    }
}

// New files go to all clients of their cache at once.
void Server::lend_changes() {
    for (auto &[identifier, cache] : caches_) {
        if (!cache.stale) continue;
        cache.refresh();
        watch(cache);
        end_unless([changed = &cache](Connection &client) {
            return client.cache() != changed || client.write();
        });
    }
}

// A cache with guarded files stays.
void Server::close_unused() {
    for (auto entry = caches_.begin(); entry != caches_.end();) {
        SharedCache &cache = entry->second;
        const bool is_used =
            std::any_of(clients_.begin(), clients_.end(),
                        [&](const Connection &client) { return client.cache() == &cache; });
        if (!is_used && cache.is_open()) cache.close();
        if (is_used || cache.has_guarded()) {
            ++entry;
            continue;
        }
        if (cache.watch >= 0) ::inotify_rm_watch(changes_.get(), cache.watch);
        entry = caches_.erase(entry);
    }
}

}  // namespace cairn::broker
