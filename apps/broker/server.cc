// SPDX-License-Identifier: MIT
#include "server.h"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <stdexcept>

#include "os/environment.h"

namespace cairn::broker {
namespace {

// Tags of the descriptors in epoll. Those of clients are their numbers, which begin behind.
constexpr std::uint64_t kListener = 0, kEnd = 1, kChanges = 2, kFirstClient = 16;
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

Server::~Server() = default;

bool Server::wait_for(int fd, std::uint64_t tag) const {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = tag;
    return ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Server::prepare(int until_readable) {
    events_.reset(::epoll_create1(EPOLL_CLOEXEC));
    changes_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    last_number_ = kFirstClient;
    if (!events_.valid() || !wait_for(until_readable, kEnd) ||
        !wait_for(listener_.socket().fd(), kListener)) {
        throw std::runtime_error("the system has no descriptors left");
    }
    if (!changes_.valid() || !wait_for(changes_.get(), kChanges)) {
        changes_.reset(-1);
        journal_.line("no inotify: what other programs store is lent when it is asked for");
    }
}

void Server::run(int until_readable) {
    prepare(until_readable);
    journal_.line("serving the caches below %s", settings_.root.c_str());
    std::array<epoll_event, 32> ready;
    while (!stop_) {
        const int count =
            ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), timeout_ms());
        for (int i = 0; i < count; ++i) {
            const epoll_event &event = ready[static_cast<std::size_t>(i)];
            if (event.data.u64 == kEnd) {
                stop_ = true;
            } else if (event.data.u64 == kListener) {
                accept_clients();
            } else if (event.data.u64 == kChanges) {
                read_changes();
            } else {
                serve(event.data.u64, event.events);
            }
        }
        go_on_with_paused();
        // Some clients acknowledged descriptors before they took them in.
        write_to([](const Connection &client) { return client.acknowledged_early(); });
        end_overdue();
        lend_changes();
        close_unused();
    }
    journal_.line("ending");
}

int Server::timeout_ms() const {
    if (accept_again_ns_ != 0) return kPausedMs;
    for (const auto &[number, client] : clients_) {
        if (client.paused) return kPausedMs;
    }
    return clients_.empty() ? -1 : kTickMs;
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
        journal_.line("cannot take a client: %s", std::strerror(errno));
        ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, listener_.socket().fd(), nullptr);
        accept_again_ns_ = monotonic_ns() + kAcceptAgainNs;
        return;
    }
}

void Server::accept_client(Socket socket) {
    const auto user = socket.peer_user();
    if (!user.ok() || user.value() != effective_user()) {
        journal_.line("a client of another user was turned away");
        return;
    }
    if (client_count() >= settings_.clients_max) {
        journal_.line("a client was turned away: there are %u", settings_.clients_max);
        (void)socket.send(encode_message(Refused{Refusal::full}));
        return;
    }
    const std::uint64_t number = ++last_number_;
    const int fd = socket.fd();
    auto connection = std::make_unique<Connection>(*this, settings_, journal_, std::move(socket),
                                                   number, monotonic_ns());
    if (!wait_for(fd, number)) return;
    clients_[number].connection = std::move(connection);
}

void Server::serve(std::uint64_t number, std::uint32_t events) {
    const auto client = clients_.find(number);
    if (client == clients_.end()) return;
    Connection &connection = *client->second.connection;
    const bool readable = (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
    if ((readable && !connection.read(monotonic_ns())) || !connection.write()) {
        end(client->second);
        clients_.erase(client);
        return;
    }
    update(number, client->second);
}

// Tells epoll what the loop waits for from this client now.
void Server::update(std::uint64_t number, Client &client) const {
    const bool pause = client.connection->over_quota(monotonic_ns());
    if (pause && client.paused) return;
    epoll_event event = {};
    event.events = EPOLLIN | (client.connection->wants_to_write() ? EPOLLOUT : 0u);
    event.data.u64 = number;
    const int operation = pause ? EPOLL_CTL_DEL : client.paused ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    client.paused = pause;
    ::epoll_ctl(events_.get(), operation, client.connection->socket().fd(), &event);
}

void Server::go_on_with_paused() {
    for (auto &[number, client] : clients_) {
        if (client.paused) update(number, client);
    }
    if (accept_again_ns_ != 0 && monotonic_ns() > accept_again_ns_) {
        accept_again_ns_ = 0;
        (void)wait_for(listener_.socket().fd(), kListener);
    }
}

// Has these connections send answers and descriptors.
template <typename Which>
void Server::write_to(Which which) {
    end_unless([&](std::uint64_t number, Client &client) {
        if (!which(*client.connection)) return true;
        const bool goes_on = client.connection->write();
        if (goes_on) update(number, client);
        return goes_on;
    });
}

template <typename Keep>
void Server::end_unless(Keep keep) {
    for (auto client = clients_.begin(); client != clients_.end();) {
        const bool is_over = !keep(client->first, client->second);
        if (is_over) end(client->second);
        client = is_over ? clients_.erase(client) : std::next(client);
    }
}

// To be erased then: the kernel forgets a closed descriptor.
void Server::end(Client &client) {
    if (auto socket = client.connection->release_if_in_flight()) {
        ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, socket->fd(), nullptr);
        socket->shut_down();
        leaving_.push_back(std::move(*socket));
    }
}

std::size_t Server::client_count() {
    std::erase_if(leaving_, [](const Socket &socket) { return socket.drained(); });
    return clients_.size() + leaving_.size();
}

void Server::end_overdue() {
    const std::uint64_t now = monotonic_ns();
    end_unless([&](std::uint64_t number, const Client &client) {
        const bool is_late = client.connection->overdue(now) && !client.paused;
        if (is_late) journal_.line("client %" PRIu64 ": did not go on in time", number);
        return !is_late;
    });
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
    Watched &watched = caches_[identifier];  // close_unused() removes it if it stays without use
    if (watched.cache != nullptr) {
        if (watched.cache->version() == version) return watched.cache.get();
        refusal = Refusal::busy;
        return nullptr;
    }
    const int result =
        SharedCache::open(settings_, journal_, identifier, version, watched.guards, watched.cache);
    if (result != CAIRN_OK) {
        journal_.line("cannot open a cache for a client: %s", cairn_result_string(result));
        refusal = refusal_of(result);
        return nullptr;
    }
    if (changes_.valid()) {
        watched.watch =
            ::inotify_add_watch(changes_.get(), watched.cache->path().c_str(), kWatched);
        watched.cache->stale = true;  // a file may have changed before the watch was there
    }
    return watched.cache.get();
}

void Server::read_changes() {
    alignas(inotify_event) std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t count = ::read(changes_.get(), buffer.data(), buffer.size());
        if (count <= 0) return;
        for (const char *next = buffer.data(); next < buffer.data() + count;) {
            const auto *event = reinterpret_cast<const inotify_event *>(next);
            for (auto &[identifier, watched] : caches_) {
                const bool overflow = (event->mask & IN_Q_OVERFLOW) != 0;
                if (!overflow && watched.watch != event->wd) continue;
                if (watched.cache != nullptr) watched.cache->stale = true;
                if (watched.cache == nullptr) watched.guards.release_deleted();
            }
            next += sizeof(inotify_event) + event->len;
        }
    }
}

// New files go to all clients of their cache at once.
void Server::lend_changes() {
    for (auto &[identifier, watched] : caches_) {
        if (watched.cache == nullptr || !watched.cache->stale) continue;
        watched.cache->refresh();
        write_to([cache = watched.cache.get()](const Connection &client) {
            return client.cache() == cache;
        });
    }
}

bool Server::is_used(const SharedCache *cache) const {
    return std::any_of(clients_.begin(), clients_.end(), [&](const auto &client) {
        return client.second.connection->cache() == cache;
    });
}

// The guards of lent files stay.
void Server::close_unused() {
    for (auto entry = caches_.begin(); entry != caches_.end();) {
        Watched &watched = entry->second;
        if (watched.cache != nullptr && !is_used(watched.cache.get())) watched.cache.reset();
        if (watched.cache != nullptr || !watched.guards.empty()) {
            ++entry;
            continue;
        }
        if (watched.watch >= 0) ::inotify_rm_watch(changes_.get(), watched.watch);
        entry = caches_.erase(entry);
    }
}

}  // namespace cairn::broker
