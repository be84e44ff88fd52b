// SPDX-License-Identifier: MIT
// Shaders as files: read whole, and what their names and first bytes say of them.
// Thread safety: pure functions, and the file system.
// Failure: a Failure that names the file.
#pragma once

#include <string>
#include <string_view>

#include "conversions/converter.h"

namespace cairn::convert {

// `-` is standard input. At most `size_max` bytes.
std::string read_shader(const std::string &name, size_t size_max);

// The converter for such an input: SPIR-V and DXBC are known by their first bytes, all else is
// text.
std::string_view converter_for(std::string_view input);

// Options that follow from a file's name, such as stage=fragment from `x.frag`; of those that the
// converter has.
conversions::Options options_from_name(const conversions::Converter &converter,
                                       const std::string &name);

}  // namespace cairn::convert
