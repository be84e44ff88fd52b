// Log lines on standard error, where they were asked for.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread; a line is one write.
#pragma once

namespace cairn::broker {

class Journal {
  public:
    explicit Journal(bool on) : on_(on) {}
    void line(const char *format, ...) const __attribute__((format(printf, 2, 3)));
    // As cairn_log_fn, with a Journal as user pointer.
    static void receive(void *self, int severity, const char *line);

  private:
    const bool on_;
};

}  // namespace cairn::broker
