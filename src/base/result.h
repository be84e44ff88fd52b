// The error model of the project: Error, Status and Result<T>.
// SPDX-License-Identifier: MIT
//
// Thread safety: values.
// A miss is an outcome, not an Error: look-ups return Result<std::optional<T>>. Context (path,
// errno) is logged once, where it is known; an Error carries only what a caller can act on.
#pragma once

#include <cassert>
#include <cstdint>
#include <new>
#include <utility>

namespace cairn {

enum class Error : std::uint8_t {
    none,  // only inside Status and Result
    invalid_argument,
    not_found,  // a file or directory, never an entry
    exists,     // a file or directory, never an entry
    no_memory,
    no_space,   // the file system or a quota
    full,       // the cache's own limit
    too_large,  // the entry exceeds what the cache may hold
    denied,
    read_only,
    busy,
    corrupt,
    io,
    unsupported,
};

// Success, or why not.
class [[nodiscard]] Status {
  public:
    Status() = default;
    Status(Error error) : error_(error) {}
    bool ok() const { return error_ == Error::none; }
    Error error() const { return error_; }

  private:
    Error error_ = Error::none;
};

// A value, or why there is none. T must be movable.
template <typename T>
class [[nodiscard]] Result {
  public:
    Result(Error error) : error_(error) { assert(error != Error::none); }
    Result(T value) : error_(Error::none) { new (&value_) T(std::move(value)); }
    Result(Result &&other) noexcept : error_(other.error_) {
        if (ok()) new (&value_) T(std::move(other.value_));
    }
    Result(const Result &) = delete;
    Result &operator=(const Result &) = delete;
    Result &operator=(Result &&other) noexcept {
        if (this != &other) {
            this->~Result();
            new (this) Result(std::move(other));
        }
        return *this;
    }
    ~Result() {
        if (ok()) value_.~T();
    }

    bool ok() const { return error_ == Error::none; }
    Error error() const { return error_; }
    T &value() {
        assert(ok());
        return value_;
    }
    const T &value() const {
        assert(ok());
        return value_;
    }
    T &operator*() { return value(); }
    T *operator->() { return &value(); }
    const T *operator->() const { return &value(); }

  private:
    Error error_;
    union {
        T value_;
    };
};

}  // namespace cairn

#define CAIRN_CONCAT_INNER(a, b) a##b
#define CAIRN_CONCAT(a, b) CAIRN_CONCAT_INNER(a, b)

// Returns the error of a Status or Result from the enclosing function.
#define TRY(expression)                                  \
    do {                                                 \
        auto &&try_status = (expression);                \
        if (!try_status.ok()) return try_status.error(); \
    } while (false)

// Binds the value of a Result, or returns its error.
#define TRY_ASSIGN(variable, expression)                     \
    auto CAIRN_CONCAT(try_result_, __LINE__) = (expression); \
    if (!CAIRN_CONCAT(try_result_, __LINE__).ok())           \
        return CAIRN_CONCAT(try_result_, __LINE__).error();  \
    variable = std::move(CAIRN_CONCAT(try_result_, __LINE__).value())
