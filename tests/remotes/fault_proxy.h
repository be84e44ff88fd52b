// A proxy between a client and a server on this machine that does what broken networks and servers do.
// SPDX-License-Identifier: MIT
//
// Thread safety: set() and port() from any thread. It serves in threads of its own, which end with it.
// Failure: aborts when there is no port for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cairn_test {

enum class Fault {
    none,
    refuse,
    hang,         // accepts, and neither reads nor answers
    hang_inside,  // an answer stops coming
    cut,          // an answer ends, and the connection with it
    slow,         // 1 kB in a second
    garbage,      // something else instead of an answer
    longer,       // an answer says that it is longer than it is
    shorter,      // or shorter
};
const char *fault_name(Fault fault);

class FaultProxy {
  public:
    explicit FaultProxy(std::uint16_t target);
    ~FaultProxy();
    FaultProxy(const FaultProxy &) = delete;
    FaultProxy &operator=(const FaultProxy &) = delete;

    std::uint16_t port() const { return port_; }
    // From now on, for connections that there are as well. `after` is how many bytes of each answer come before it
    // hangs or is cut.
    void set(Fault fault, std::size_t after = 0);
    // That were accepted.
    unsigned connections() const { return accepted_; }

  private:
    void accept_all();
    void serve(int client);
    // False: the connection is to end.
    bool pass_answer(int from, int client, std::size_t &passed);

    const std::uint16_t target_;
    std::uint16_t port_ = 0;
    std::atomic<Fault> fault_{Fault::none};
    std::atomic<std::size_t> after_{0};
    std::atomic<bool> ends_{false};
    std::atomic<unsigned> accepted_{0};
    std::mutex mutex_;
    // Guarded by mutex_.
    int listener_ = -1;
    std::vector<std::thread> connections_;

    std::thread acceptor_;
};

}  // namespace cairn_test
