// SPDX-License-Identifier: MIT
#include "questions.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "os/environment.h"
#include "place.h"

namespace cairn::agent {
namespace {

constexpr int kWaitMs = 60'000;

Socket listen(const std::string &path) {
    auto socket = Socket::listen(path);
    if (!socket.ok()) fail_at(socket.error(), path);
    return std::move(socket.value());
}

void empty(int event_fd) {
    std::uint64_t ignored = 0;
    (void)!::read(event_fd, &ignored, sizeof ignored);
}

}  // namespace

Questions::Questions(const std::string &path, Packs &packs)
    : packs_(packs),
      place_(take_place(path)),
      listening_(listen(path)),
      end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { work(); }) {
    if (!end_.valid() || !thread_.wake()) {
        throw std::runtime_error("the system has no more threads or descriptors");
    }
}

Questions::~Questions() {
    const std::uint64_t one = 1;
    (void)!::write(end_.get(), &one, sizeof one);
    thread_.stop();
}

// What one connection does, or a lack of memory, ends no other.
void Questions::work() {
    for (;;) {
        try {
            while (wait()) {
            }
            return;
        } catch (const std::exception &) {
            connections_.clear();
        }
    }
}

// Waits, and does what there is to do. False: it is to end.
bool Questions::wait() {
    std::vector<pollfd> polls = {
        {end_.get(), POLLIN, 0}, {packs_.changed_fd(), POLLIN, 0}, {listening_.fd(), POLLIN, 0}};
    for (const Connection &each : connections_) polls.push_back({each.socket.fd(), POLLIN, 0});
    if (::poll(polls.data(), polls.size(), kWaitMs) <= 0) return true;
    if (polls[0].revents != 0) return false;
    auto connection = connections_.begin();
    for (std::size_t i = 3; i < polls.size(); ++i) {
        const auto next = std::next(connection);
        if (polls[i].revents != 0) {
            connections_.splice(connections_.end(), connections_, connection);
            if (!hear(*connection)) connections_.erase(connection);
        }
        connection = next;
    }
    if (polls[1].revents != 0) answer_waiting();
    if (polls[2].revents != 0) accept_all();
    return true;
}

// A process that connects while there are too many takes the place of the one that was silent for
// longest.
void Questions::accept_all() {
    for (auto socket = listening_.accept(); socket.ok(); socket = listening_.accept()) {
        const auto user = socket->peer_user();
        if (!user.ok() || user.value() != effective_user()) continue;
        if (connections_.size() >= kConnectionsMax) connections_.pop_front();
        connections_.push_back({std::move(socket.value()), std::nullopt, {}});
    }
}

bool Questions::hear(Connection &connection) {
    std::array<std::byte, kQuestionSizeMax> buffer;
    const auto size = connection.socket.receive(buffer, nullptr);
    if (size.error() == Error::busy) return true;
    const auto question =
        size.ok() ? decode_question(Bytes(buffer).first(size.value())) : std::nullopt;
    // It has to wait for the answer before.
    if (!question || connection.sequence) return false;
    const Packs::Found found = packs_.find(*question);
    if (found.state != Packs::State::coming) return answer(connection, question->sequence, found);
    connection.sequence = question->sequence;
    connection.pack = found.pack;
    return true;
}

bool Questions::answer(Connection &connection, std::uint64_t sequence, const Packs::Found &found) {
    connection.sequence.reset();
    AgentAnswer answer = {sequence, std::nullopt};
    if (found.state == Packs::State::kept) answer.pack = found.pack;
    return connection.socket.send(encode_answer(answer)).ok();
}

void Questions::answer_waiting() {
    empty(packs_.changed_fd());
    for (auto each = connections_.begin(); each != connections_.end();) {
        const auto connection = each++;
        if (!connection->sequence) continue;
        const auto state = packs_.state_of(connection->pack);
        if (state == Packs::State::coming) continue;
        if (!answer(*connection, *connection->sequence, {state, connection->pack})) {
            connections_.erase(connection);
        }
    }
}

}  // namespace cairn::agent
