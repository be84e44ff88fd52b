// SPDX-License-Identifier: MIT
// The library fmt, compiled once and linked statically. Debian has it only as a shared library,
// which the programs are not to need, and as headers, which would compile it into every file.
#include <fmt/format-inl.h>

namespace fmt::detail {

// The headers declare them, so that no other file compiles them.
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;

}  // namespace fmt::detail
