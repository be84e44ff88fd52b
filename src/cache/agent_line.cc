// SPDX-License-Identifier: MIT
#include "cache/agent_line.h"

#include <array>

#include "os/deadline.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::uint64_t kNsPerUs = 1000, kNsPerMs = 1'000'000;

}  // namespace

double AgentLine::random_chance() {
    std::array<std::byte, sizeof(std::uint32_t)> bytes = {};
    random_bytes(bytes);
    return get_le<std::uint32_t>(bytes, 0) / 4294967296.0;
}

AgentLine &AgentLine::of_process() {
    static auto *const line = new AgentLine;
    return *line;
}

void AgentLine::fail(State &state) const {
    state.socket = Socket();
    state.is_late = false;
    state.patience.note_failure(monotonic_ns(), chance_());
}

// A connection on which an answer is missing is given up: the agent answers one question after the
// other. One of an agent that was ended is made anew, once.
bool AgentLine::send(State &state, const std::string &path, Bytes message) {
    const bool is_old = state.socket.valid() && !state.is_late;
    if (is_old && state.socket.send(message).ok()) return true;
    state.socket = Socket();
    state.is_late = false;
    auto socket = path.empty() ? Error::not_found : Socket::connect(path);
    if (!socket.ok() || !socket->send(message).ok()) return false;
    state.socket = std::move(socket.value());
    return true;
}

// The next answer that is there; nullopt: none, and the connection is closed unless it may come.
std::optional<AgentAnswer> AgentLine::receive(State &state) const {
    std::array<std::byte, kAnswerSize + 1> buffer;
    const auto size = state.socket.receive(buffer, nullptr);
    if (size.error() == Error::busy) return std::nullopt;
    auto answer = size.ok() ? decode_answer(Bytes(buffer).first(size.value())) : std::nullopt;
    // There is one answer to each question, and none before it.
    if (!answer || answer->sequence != state.last_sequence) {
        fail(state);
        return std::nullopt;
    }
    return answer;
}

std::optional<KeptPackName> AgentLine::take_late(State &state) const {
    if (!state.is_late || !state.socket.valid()) return std::nullopt;
    const auto answer = receive(state);
    if (!answer) return std::nullopt;
    state.is_late = false;
    return answer->pack;
}

void AgentLine::ask(State &state, AgentQuestion &question, std::uint64_t patience_us,
                    const std::string &socket, Heard &heard) const {
    const std::uint64_t begin_ns = monotonic_ns();
    const std::uint64_t end_ns = begin_ns + patience_us * kNsPerUs;
    question.sequence = state.last_sequence + 1;
    const auto message = encode_question(question);
    if (!message) return;
    if (!send(state, socket, *message)) return fail(state);
    heard.was_asked = true;
    state.last_sequence = question.sequence;
    for (std::uint64_t now_ns = monotonic_ns(); now_ns < end_ns; now_ns = monotonic_ns()) {
        const auto left_ms = static_cast<int>((end_ns - now_ns) / kNsPerMs);
        if (!state.socket.wait(Socket::For::reading, left_ms)) {
            if (left_ms == 0) break;
            continue;  // a signal, or the rest of a millisecond
        }
        const auto answer = receive(state);
        if (answer) {
            heard.pack = answer->pack;
            now_ns = monotonic_ns();
            return state.patience.note_answer(now_ns, (now_ns - begin_ns) / kNsPerUs);
        }
        if (!state.socket.valid()) return;
    }
    state.is_late = true;
    heard.is_late = true;
    state.patience.note_failure(monotonic_ns(), chance_());
}

AgentLine::Heard AgentLine::ask(AgentQuestion question, const Limits &limits,
                                const std::string &socket) {
    Heard heard;
    State &state = state_.get();
    if (!state.mutex.try_lock()) return heard;
    const AdoptedLock lock(state.mutex);
    heard.late = take_late(state);
    // What came late may be what is asked for: the caller looks first.
    if (heard.late) return heard;
    const auto patience_us =
        state.patience.patience_us(monotonic_ns(), limits.most_us, limits.compile_us);
    if (patience_us) ask(state, question, *patience_us, socket, heard);
    return heard;
}

void AgentLine::note_nonsense() {
    State &state = state_.get();
    if (!state.mutex.try_lock()) return;
    const AdoptedLock lock(state.mutex);
    fail(state);
}

}  // namespace cairn
