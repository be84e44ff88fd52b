// A row of the matrix: its name, who says what, and the function that looks whether it holds.
// SPDX-License-Identifier: MIT
//
// docs/conformance/egl.md lists the rows by these names; a test compares the two lists.
// Thread safety: externally synchronised.
#pragma once

#include <span>
#include <string>

#include "conformance/rows.h"
#include "subject.h"

namespace conformance {

class Verdict : public Findings {
  public:
    // The error of the call before, and nothing left behind it.
    void expect_error(EGLint error, const std::string &what);

    // The subject has nothing to be judged by this row.
    void cannot(const std::string &why) { reason_ = why; }

    const std::string &reason() const { return reason_; }

  private:
    std::string reason_;
};

// How the reference stands to a row.
enum class Reference {
    same,     // it holds there, too
    differs,  // decided otherwise here: it must not hold there, or the mark is stale
    absent,   // it cannot be asked there: no such function, or it would end the process
};

struct Row {
    const char *name;
    Reference reference;
    void (*judge)(Verdict &verdict);
};

std::span<const Row> control_rows();  // the four calls that ANGLE ships
std::span<const Row> cache_rows();    // order, bytes, limits
std::span<const Row> context_rows();  // contexts and links
std::span<const Row> key_rows();      // what is part of a program's key
std::span<const Row> draft_rows();    // the first draft
std::span<const Row> process_rows();  // more than one process
std::span<const Row> blob_rows();     // EGL_ANDROID_blob_cache and GL_ANGLE_blob_cache

}  // namespace conformance
