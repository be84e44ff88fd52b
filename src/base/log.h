// Gives the embedder's function one line per event worth knowing. By default there is no function.
// SPDX-License-Identifier: MIT
//
// Thread safety: const after construction; the embedder's function is called from any thread.
// Lifetime: the function and its user pointer outlive the Log.
#pragma once

#include <cstdarg>

namespace cairn {

enum class Severity : int { error = 0, warning = 1, info = 2 };

class Log {
  public:
    using Function = void (*)(void *user, int severity, const char *line);

    Log() = default;
    Log(Function function, void *user) : function_(function), user_(user) {}

    // Formats as printf does; lines are cut at 500 characters.
    void write(Severity severity, const char *format, ...) const
        __attribute__((format(printf, 3, 4)));

  private:
    Function function_ = nullptr;
    void *user_ = nullptr;
};

}  // namespace cairn
