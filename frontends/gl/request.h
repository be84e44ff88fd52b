// Requests: questions to a driver, each with everything that can change the answer.
// SPDX-License-Identifier: MIT
//
// A request is a plain struct whose members are all Hashed or Unhashed. key_of() visits all of them
// in their order, and a member of any other type does not compile, so that none can be forgotten.
// On a miss, make_anew() has the driver answer by a function that reaches nothing but the request.
//
// Thread safety: pure functions. Ownership: a request may borrow; it lives as long as one call.
// Failure: as KeyBuilder's.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "key.h"

namespace cairn::gl {

// A member that can change the answer. It has no default: a request without it does not compile.
template <Tag tag, typename T>
struct Hashed {
    // Implicit, so that requests are written as plain structs are.
    Hashed(T member) : value(std::move(member)) {}
    bool operator==(const Hashed &) const = default;
    const T &operator*() const { return value; }
    T value;
};

// Why a member cannot change the answer.
enum class Because {
    it_names_an_object,  // the driver's object that holds what is hashed; numbers are arbitrary
    it_is_the_driver,    // the driver's functions: the identity says which driver it is
    it_is_in_another,    // it follows from a hashed member
};

template <Because, typename T>
struct Unhashed {
    Unhashed(T member) : value(std::move(member)) {}
    bool operator==(const Unhashed &) const = default;
    const T &operator*() const { return value; }
    T value;
};

// Stands for a value of any type, in expressions that are not evaluated.
struct AnyMember {
    template <typename T>
    operator T() const;
};

template <typename T, size_t... numbers>
constexpr bool has_members(std::index_sequence<numbers...>) {
    return requires {
        T{(static_cast<void>(numbers), AnyMember())...};
    };
}

// The number of members of a struct: the largest number of values that it can be made of.
template <typename T, size_t guess = 10>
constexpr size_t member_count() {
    if constexpr (guess == 0 || has_members<T>(std::make_index_sequence<guess>())) {
        return guess;
    } else {
        return member_count<T, guess - 1>();
    }
}

// Calls `visit` with each member, in their order.
template <typename T, typename Visit>
constexpr void for_each_member(T &request, Visit visit) {
    constexpr size_t kCount = member_count<std::remove_const_t<T>>();
    const auto visit_all = [&](auto &...members) { (visit(members), ...); };
    if constexpr (kCount == 4) {
        auto &[a, b, c, d] = request;
        visit_all(a, b, c, d);
    } else if constexpr (kCount == 6) {
        auto &[a, b, c, d, e, f] = request;
        visit_all(a, b, c, d, e, f);
    } else {
        static_assert(kCount == 7, "add a branch for so many members");
        auto &[a, b, c, d, e, f, g] = request;
        visit_all(a, b, c, d, e, f, g);
    }
}

template <typename T>
constexpr bool kIsSpelled = false;
template <Tag tag, typename T>
constexpr bool kIsSpelled<Hashed<tag, T>> = true;
template <Because why, typename T>
constexpr bool kIsSpelled<Unhashed<why, T>> = true;

inline void add(KeyBuilder &builder, Tag tag, std::string_view text) {
    builder.add(tag, text);
}
inline void add(KeyBuilder &builder, Tag tag, const Key &key) {
    builder.add(tag, bytes_of(key));
}
template <typename T>
requires std::integral<T> || std::is_enum_v<T>
void add(KeyBuilder &builder, Tag tag, T number) {
    static_assert(std::is_unsigned_v<T> || std::is_enum_v<T>, "a negative number has many sizes");
    builder.add_number(tag, static_cast<uint64_t>(number));
}
template <typename T>
void add(KeyBuilder &builder, Tag tag, const std::optional<T> &number) {
    if (number) {
        add(builder, tag, *number);
    }
}

template <typename T>
void add_members(KeyBuilder &builder, const T &request);

template <Because why, typename T>
void add_member(KeyBuilder &, const Unhashed<why, T> &) {}

// Each element of a list is a field of its own: a value, or a struct as a request is one.
template <Tag tag, typename T>
void add_member(KeyBuilder &builder, const Hashed<tag, T> &member) {
    if constexpr (requires { add(builder, tag, *member); }) {
        add(builder, tag, *member);
    } else {
        for (const auto &element : *member) {
            if constexpr (requires { add(builder, tag, element); }) {
                add(builder, tag, element);
            } else {
                add_members(builder, element);
            }
        }
    }
}

template <typename T>
void add_members(KeyBuilder &builder, const T &request) {
    for_each_member(request, [&builder](const auto &member) {
        using Member = std::remove_cvref_t<decltype(member)>;
        static_assert(kIsSpelled<Member>, "a request's members are Hashed or Unhashed");
        add_member(builder, member);
    });
}

template <typename T>
Key key_of(const T &request) {
    KeyBuilder builder(T::kDomain);
    add_members(builder, request);
    return builder.finish();
}

// The beginning of an unbroken hash is an unbroken hash.
template <typename T>
ProgramKey program_key_of(const T &request) {
    const Key key = key_of(request);
    ProgramKey beginning;
    std::copy_n(key.begin(), beginning.size(), beginning.begin());
    return beginning;
}

// The driver's answer to a request that is not cached. `make` is a plain function: it can reach
// only its argument and the globals of the process.
template <typename T, typename Answer>
Answer make_anew(const T &request, Answer (*make)(const T &)) {
    return make(request);
}

}  // namespace cairn::gl
