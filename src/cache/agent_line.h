// A process's connection to the user's agent, for questions about entries that it misses.
// SPDX-License-Identifier: MIT
//
// One question is on its way at a time: other threads get no answer, at once. An answer that comes
// too late is taken in with a later call, by its number, and never counts for another question.
// All that goes wrong (nobody listens, no answer in time, an answer that makes no sense) stops
// questions for a while: see asking_patience.h.
//
// Thread safety: any thread. A forked child has a connection of its own, made with its first
// question; its parent's is closed in it by nobody, and used by nobody.
// Failure: no answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "cache/agent_question.h"
#include "cache/asking_patience.h"
#include "os/per_process.h"
#include "os/socket.h"

namespace cairn {

class AgentLine {
  public:
    struct Limits {
        std::uint64_t most_us = 0;                // that the user wants to wait
        std::optional<std::uint64_t> compile_us;  // what it saves
    };
    struct Heard {
        bool was_asked = false;            // the question was sent
        bool is_late = false;              // its answer did not come in time
        std::optional<KeptPackName> pack;  // the answer
        std::optional<KeptPackName> late;  // the answer to a question before
    };

    // From 0 to below 1.
    using Chance = double (*)();
    static double random_chance();
    // `chance` is of how long there are no questions after a failure.
    explicit AgentLine(Chance chance = &random_chance) : chance_(chance) {}

    // That of this process, for all of its caches: its breaker counts for all, too. It is never
    // destroyed, as exit handlers may ask.
    static AgentLine &of_process();

    // Waits as long as the limits and what was learnt allow. The number of the question is the line's. `socket` is the
    // agent's path.
    Heard ask(AgentQuestion question, const Limits &limits, const std::string &socket);
    // The answer named what is not there, or is not what was asked for.
    void note_nonsense();

  private:
    struct State {
        TryMutex mutex;
        Socket socket GUARDED_BY(mutex);
        std::uint64_t last_sequence GUARDED_BY(mutex) = 0;
        bool is_late GUARDED_BY(mutex) = false;  // the answer to the last question has not come
        AskingPatience patience GUARDED_BY(mutex);
    };

    void fail(State &state) const REQUIRES_LOCK(state.mutex);
    static bool send(State &state, const std::string &path, Bytes message)
        REQUIRES_LOCK(state.mutex);
    std::optional<KeptPackName> take_late(State &state) const REQUIRES_LOCK(state.mutex);
    std::optional<AgentAnswer> receive(State &state) const REQUIRES_LOCK(state.mutex);
    void ask(State &state, AgentQuestion &question, std::uint64_t patience_us,
             const std::string &socket, Heard &heard) const REQUIRES_LOCK(state.mutex);

    const Chance chance_;
    PerProcess<State> state_;
};

}  // namespace cairn
