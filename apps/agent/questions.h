// The agent's other socket: what applications ask about entries that they miss. Format: docs/formats/agent.md.
// SPDX-License-Identifier: MIT
//
// It has a thread of its own, which never waits for a remote: a question about a pack that is being
// fetched waits, and the others are answered. A process that asks without end is answered without end,
// one question after the other.
//
// Thread safety: one thread makes and destroys it. `packs` is called from its thread, and outlives it.
// Failure: the constructor throws a std::runtime_error that says why, for people. A connection that
// does what it must not is closed, and so is one whose process does not read its answer.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "base/log.h"
#include "cache/agent_question.h"
#include "os/file.h"
#include "os/socket.h"
#include "os/socket_place.h"
#include "os/worker.h"

namespace cairn::agent {

// Which packs there are. No call takes long.
class Packs {
  public:
    enum class State { kept, coming, none };
    struct Found {
        State state = State::none;
        KeptPackName pack = {};
    };

    virtual ~Packs() = default;
    // May begin to fetch it.
    virtual Found find(const AgentQuestion &question) = 0;
    virtual State state_of(const KeptPackName &pack) = 0;
    // An eventfd: packs that were coming are not any more.
    virtual int changed_fd() const = 0;
};

class Questions {
  public:
    static constexpr std::size_t kConnectionsMax = 64;

    // At `path`; an agent that lives there is a failure.
    Questions(const std::string &path, Packs &packs);
    ~Questions();
    Questions(const Questions &) = delete;
    Questions &operator=(const Questions &) = delete;

  private:
    struct Connection {
        Socket socket;
        std::optional<std::uint64_t> sequence;  // of the question that waits for `pack`
        KeptPackName pack = {};
    };
    // Those that were heard of last are at the end.
    using Connections = std::list<Connection>;

    void work();
    bool wait();
    void accept_all();
    // False: it is to be closed.
    bool hear(Connection &connection);
    bool answer(Connection &connection, std::uint64_t sequence, const Packs::Found &found);
    void answer_waiting();

    Packs &packs_;
    SocketPlace place_;
    Socket listening_;
    UniqueFd end_;  // an eventfd
    Connections connections_;
    cairn::Worker thread_;  // last: it uses the others
};

}  // namespace cairn::agent
