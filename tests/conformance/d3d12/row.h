// A row of the matrix: its name, what it needs, and the function that looks whether it holds.
// SPDX-License-Identifier: MIT
//
// docs/conformance/d3d12.md lists the rows by these names; a test compares the two lists.
// Thread safety: externally synchronised.
#pragma once

#include <cstdio>
#include <span>
#include <string>

#include "conformance/rows.h"
#include "d3d12/stage.h"

namespace conformance {

using namespace d3d12_test;

class Verdict : public Findings {
  public:
    void expect_result(HRESULT result, HRESULT expected, const std::string &what) {
        if (result != expected) {
            char text[64];
            std::snprintf(text, sizeof text, ": %08x instead of %08x",
                          static_cast<unsigned>(result), static_cast<unsigned>(expected));
            expect(false, what + text);
        }
    }
};

enum class Needs { nothing, device };

// The behaviour of native Windows, as far as it is known.
enum class Native { same, differs };

struct Row {
    const char *name;
    Needs needs;
    Native native;
    void (*judge)(Verdict &verdict, Stage &stage);
};

std::span<const Row> create_rows();    // CreateShaderCacheSession
std::span<const Row> identity_rows();  // which sessions share a cache
std::span<const Row> value_rows();     // FindValue, StoreValue
std::span<const Row> disk_rows();      // entries that the disk loses
std::span<const Row> lifetime_rows();  // versions, ends of sessions, SetDeleteOnDestroy
std::span<const Row> control_rows();   // ShaderCacheControl, CheckFeatureSupport, messages
std::span<const Row> com_rows();       // objects
std::span<const Row> device_rows();    // the facade

// The output of this program, or of a copy of it, as a new process with these settings of `env`.
std::string said_by(const std::string &program, const std::string &environment,
                    const std::string &arguments);
// The file of this program.
std::string own_file();

// Opens a session, or notes why not.
Session open(Verdict &verdict, Stage &stage, const Desc &desc);

}  // namespace conformance
