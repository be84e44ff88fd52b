// Answers of Redis as values, read by hiredis' parser, with bounds on what a server may make us hold.
// SPDX-License-Identifier: MIT
//
// Thread safety: values; a reader is externally synchronised.
// Failure: an answer that makes no sense, or is larger than its bound, is a result of the reader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;

namespace cairn::remotes {

struct RedisReply {
    enum class Kind { nothing, text, status, error, number, list };

    Kind kind = Kind::nothing;
    std::string text;  // of a text, a status and an error
    long long number = 0;
    std::vector<std::unique_ptr<RedisReply>> list;

    // The first word of an error, such as NOAUTH. The rest may quote what was sent, and so a password.
    // Empty: it is no error, or none with such a word.
    std::string error_code() const;
};

// One answer at a time.
class RedisReader {
  public:
    enum class State { unfinished, finished, senseless };

    // An answer of more bytes is senseless.
    explicit RedisReader(std::uint64_t size_max);
    ~RedisReader();
    RedisReader(const RedisReader &) = delete;
    RedisReader &operator=(const RedisReader &) = delete;

    State feed(std::string_view bytes);
    // REQUIRES: finished. A server that says more than it was asked is senseless, so that no answer is
    // taken for one of another question.
    RedisReply take();

  private:
    std::uint64_t size_left_;
    const std::unique_ptr<redisReader, void (*)(redisReader *)> reader_;
    std::unique_ptr<RedisReply> reply_;
};

}  // namespace cairn::remotes
