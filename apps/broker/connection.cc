// SPDX-License-Identifier: MIT
#include "connection.h"

#include <algorithm>
#include <cinttypes>

#include "server.h"

namespace cairn::broker {
namespace {

constexpr std::size_t kAnswersMax = 65536;  // bytes that a client may leave unread
constexpr unsigned kMessagesAtOnce = 16;    // then it is the others' turn
constexpr double kHitCost = 1.0 / 8;        // of a message

}  // namespace

Connection::Connection(Server &server, const BrokerSettings &settings, Socket socket,
                       std::uint64_t number, std::uint64_t now_ns)
    : server_(server),
      settings_(settings),
      log_(settings.log, nullptr),
      number_(number),
      in_flight_max_(std::clamp(kInFlightOfAllMax / settings.clients_max, 1u, kInFlightMax)),
      channel_(std::move(socket), kAnswersMax, Socket::Descriptors::refuse),
      deadline_ns_(now_ns + kHelloTimeoutNs),
      messages_(settings.messages_per_second, now_ns),
      bytes_(settings.bytes_per_second, now_ns) {}

Connection::~Connection() {
    abandon_store();
}

bool Connection::read(std::uint64_t now_ns) {
    for (unsigned i = 0; i < kMessagesAtOnce && !over_quota(now_ns); ++i) {
        const auto incoming = channel_.receive();
        if (!incoming.ok() && incoming.error() == Error::busy) return true;
        if (!incoming.ok()) {
            const bool garbage = incoming.error() == Error::corrupt;
            log_.write(Severity::info, "client %" PRIu64 ": %s", number_,
                       garbage ? "sent what is no message" : "gone");
            return false;
        }
        messages_.spend(1);
        bytes_.spend(static_cast<double>(incoming->size_bytes));
        if (!handle(incoming->message, now_ns)) {
            log_.write(Severity::info,
                       "client %" PRIu64 ": ended, for a message that it may not send now",
                       number_);
            return false;
        }
    }
    return true;
}

bool Connection::over_quota(std::uint64_t now_ns) {
    messages_.refill(now_ns);
    bytes_.refill(now_ns);
    return messages_.empty() || bytes_.empty();
}

bool Connection::overdue(std::uint64_t now_ns) const {
    const bool is_late = deadline_ns_ != 0 && now_ns > deadline_ns_;
    if (is_late) log_.write(Severity::info, "client %" PRIu64 ": did not go on in time", number_);
    return is_late;
}

// False: the client may not send this message now.
bool Connection::handle(const Message &message, std::uint64_t now_ns) {
    if (const auto *hello = std::get_if<Hello>(&message)) return handle_hello(*hello);
    if (cache_ == nullptr) return false;
    if (const auto *data = std::get_if<StoreData>(&message)) return handle_data(data->data);
    if (unfinished_) return false;
    if (const auto *head = std::get_if<StoreHead>(&message)) return handle_store(*head, now_ns);
    if (const auto *hits = std::get_if<Hits>(&message)) return handle_hits(*hits);
    if (const auto *want = std::get_if<Want>(&message)) {
        lent_.erase(want->segment);
        cache_->stale = true;
        return true;
    }
    if (const auto *received = std::get_if<Received>(&message)) {
        return handle_received(received->count);
    }
    if (const auto *ping = std::get_if<Ping>(&message)) {
        return answer(Pong{ping->number, stored_, refused_});
    }
    if (!std::holds_alternative<Start>(message)) return false;  // it is for clients
    started_ = true;
    // A process that takes over the connection has none of the files that were lent to another.
    complete_sent_ = false;
    lent_index_ = 0;
    lent_.clear();
    cache_->stale = true;
    return welcome();
}

bool Connection::handle_hello(const Hello &hello) {
    if (cache_ != nullptr) return false;
    if (hello.protocol_version != kProtocolVersion) return refuse(Refusal::unsupported);
    Refusal refusal = Refusal::failed;
    cache_ = server_.open_cache(std::string(hello.identifier), hello.contents_version, refusal);
    if (cache_ == nullptr) return refuse(refusal);
    deadline_ns_ = 0;
    return welcome();
}

bool Connection::welcome() {
    return answer(Welcome{kProtocolVersion, settings_.value_size_max, settings_.limit_bytes,
                          cache_->version(), cache_->identifier()});
}

// A client can send this without having received them: settle_received() asks the kernel.
bool Connection::handle_received(std::uint32_t count) {
    if (count > in_flight_ - acknowledged_) return false;
    acknowledged_ += count;
    return true;
}

bool Connection::refuse(Refusal reason) {
    (void)channel_.send(Refused{reason}, {});
    return false;
}

bool Connection::handle_store(const StoreHead &head, std::uint64_t now_ns) {
    if (head.value_size > settings_.value_size_max) return false;  // welcome named the limit
    unfinished_ = Unfinished{head.flags, head.cost_us, head.key_size,
                             std::size_t{head.key_size} + head.value_size};
    deadline_ns_ = now_ns + kStoreTimeoutNs;
    return handle_data(head.data);
}

bool Connection::handle_data(Bytes data) {
    if (!unfinished_) return false;
    Unfinished &entry = *unfinished_;
    if (data.size() > entry.size - entry.received) return false;
    entry.received += data.size();
    if (!entry.discarded && !server_.reserve_unfinished(data.size())) {
        // The rest of it is read and thrown away.
        server_.release_unfinished(entry.data.size());
        entry.data = {};
        entry.discarded = true;
    }
    if (!entry.discarded) entry.data.insert(entry.data.end(), data.begin(), data.end());
    if (entry.received == entry.size) finish_store();
    return true;
}

void Connection::finish_store() {
    const Unfinished &entry = *unfinished_;
    cairn_put_options options = {sizeof options, 0, entry.cost_us};
    if ((entry.flags & StoreHead::kIfAbsent) != 0) options.flags |= CAIRN_PUT_IF_ABSENT;
    if ((entry.flags & StoreHead::kPinned) != 0) options.flags |= CAIRN_PUT_PINNED;
    const std::byte *const key = entry.data.data();
    const int result = entry.discarded
                           ? int{CAIRN_ERROR_NO_MEMORY}
                           : cairn_put(cache_->handle(), key, entry.key_size, key + entry.key_size,
                                       entry.size - entry.key_size, &options);
    if (result >= 0) {
        ++stored_;
    } else {
        ++refused_;
        log_.write(Severity::info, "client %" PRIu64 ": an entry was not stored: %s", number_,
                   cairn_result_string(result));
    }
    cache_->stale = true;
    abandon_store();
}

void Connection::abandon_store() {
    if (!unfinished_) return;
    server_.release_unfinished(unfinished_->data.size());
    unfinished_.reset();
    deadline_ns_ = 0;
}

// The store counts a look-up as a hit of the entry.
bool Connection::handle_hits(const Hits &hits) {
    messages_.spend(static_cast<double>(hits.keys.size()) * kHitCost);
    for (const Bytes key : hits.keys) {
        (void)cairn_contains(cache_->handle(), key.data(), key.size());
    }
    return true;
}

bool Connection::answer(const Message &message) {
    return channel_.enqueue(message).ok();
}

bool Connection::write() {
    settle_received();
    Status status = channel_.flush();
    if (status.ok() && started_) status = lend_index();
    if (status.ok() && started_) status = lend_segments();
    if (status.ok()) status = channel_.flush();
    blocked_ = status.error() == Error::busy;
    return status.ok() || blocked_;
}

// A client can look at a message without taking it in (MSG_PEEK), and then knows all that is in it.
// So no message can prove that the descriptors have arrived; an empty queue does.
void Connection::settle_received() {
    if (acknowledged_ == 0 || !socket().drained()) return;
    in_flight_ -= acknowledged_;
    acknowledged_ = 0;
}

std::optional<Socket> Connection::release_if_in_flight() {
    if (in_flight_ == 0 || socket().drained()) return std::nullopt;
    return channel_.release_socket();
}

Status Connection::lend_index() {
    const std::uint64_t inode = cache_->files().index_inode;
    if (inode == 0 || inode == lent_index_ || in_flight_ >= in_flight_max_) return {};
    const auto file = cache_->open_index();
    if (!file.ok()) return {};  // another process is just replacing it
    const int fd = file->fd();
    TRY(channel_.send(IndexFile{}, std::span(&fd, 1)));
    lent_index_ = inode;
    ++in_flight_;
    return {};
}

Status Connection::lend_segments() {
    const auto &there = cache_->files().segments;
    std::erase_if(lent_, [&](const auto &lent) { return there.count(lent.first) == 0; });
    auto next = there.begin();
    while (next != there.end()) {
        SegmentFiles message;
        std::vector<File> files;
        std::vector<int> fds;
        const std::size_t room = std::min<std::size_t>(kSegmentsMax, in_flight_max_ - in_flight_);
        for (; next != there.end() && fds.size() < room; ++next) {
            const auto lent = lent_.find(next->first);
            if (lent != lent_.end() && lent->second == next->second) continue;
            auto file = cache_->open_segment(next->first);
            if (!file.ok()) continue;
            fds.push_back(file->fd());
            files.push_back(std::move(file.value()));
            message.segments.push_back(next->first);
        }
        if (fds.empty()) break;
        TRY(channel_.send(message, fds));
        in_flight_ += static_cast<std::uint32_t>(fds.size());
        for (const std::uint32_t segment : message.segments) lent_[segment] = there.at(segment);
    }
    // Where the client has to acknowledge some first, the broker sends the rest then.
    if (complete_sent_ || next != there.end() || lent_index_ == 0) return {};
    TRY(channel_.enqueue(Complete{}));
    complete_sent_ = true;
    return {};
}

}  // namespace cairn::broker
