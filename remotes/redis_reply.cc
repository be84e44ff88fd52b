// SPDX-License-Identifier: MIT
#include "remotes/redis_reply.h"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <cassert>
#include <new>

namespace cairn::remotes {
namespace {

// A list whose beginning announces more is not made.
constexpr std::uint64_t kListSizeMax = 1'000'000;

// What the parser calls. It takes a null for a lack of memory, and frees the answer as a whole.
RedisReply *make(const redisReadTask *task, RedisReply::Kind kind) {
    auto *made = new (std::nothrow) RedisReply;
    if (made == nullptr) return nullptr;
    made->kind = kind;
    if (task->parent != nullptr) {
        auto *parent = static_cast<RedisReply *>(task->parent->obj);
        parent->list[static_cast<std::size_t>(task->idx)].reset(made);
    }
    return made;
}

void *make_text(const redisReadTask *task, char *text, std::size_t size) {
    const RedisReply::Kind kind = task->type == REDIS_REPLY_ERROR    ? RedisReply::Kind::error
                                  : task->type == REDIS_REPLY_STATUS ? RedisReply::Kind::status
                                                                     : RedisReply::Kind::text;
    RedisReply *made = make(task, kind);
    if (made == nullptr) return nullptr;
    try {
        made->text.assign(text, size);
    } catch (const std::bad_alloc &) {
        // What has a parent is freed with it.
        if (task->parent == nullptr) delete made;
        return nullptr;
    }
    return made;
}

// hiredis counts in int or size_t, as its version is.
template <typename Count>
void *make_list(const redisReadTask *task, Count count) {
    if (count < 0 || static_cast<std::uint64_t>(count) > kListSizeMax) return nullptr;
    RedisReply *made = make(task, RedisReply::Kind::list);
    if (made == nullptr) return nullptr;
    try {
        made->list.resize(static_cast<std::size_t>(count));
    } catch (const std::bad_alloc &) {
        if (task->parent == nullptr) delete made;
        return nullptr;
    }
    return made;
}

void *make_number(const redisReadTask *task, long long number) {
    RedisReply *made = make(task, RedisReply::Kind::number);
    if (made != nullptr) made->number = number;
    return made;
}

void *make_nothing(const redisReadTask *task) {
    return make(task, RedisReply::Kind::nothing);
}

void free_reply(void *reply) {
    delete static_cast<RedisReply *>(reply);
}

redisReader *new_reader() {
    static redisReplyObjectFunctions functions = [] {
        redisReplyObjectFunctions made = {};
        made.createString = make_text;
        made.createArray = make_list;
        made.createInteger = make_number;
        made.createNil = make_nothing;
        made.freeObject = free_reply;
        return made;
    }();
    redisReader *reader = redisReaderCreateWithFunctions(&functions);
    if (reader == nullptr) throw std::bad_alloc();
    return reader;
}

}  // namespace

std::string RedisReply::error_code() const {
    if (kind != Kind::error) return {};
    const std::string word = text.substr(0, text.find(' '));
    const bool fits = word.size() <= 32 &&
                      word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
    return fits ? word : "";
}

RedisReader::RedisReader(std::uint64_t size_max)
    : size_left_(size_max), reader_(new_reader(), redisReaderFree) {}

RedisReader::~RedisReader() = default;

RedisReader::State RedisReader::feed(std::string_view bytes) {
    if (reply_ || bytes.size() > size_left_) return State::senseless;
    size_left_ -= bytes.size();
    void *reply = nullptr;
    if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK ||
        redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
        return State::senseless;
    }
    if (reply == nullptr) return State::unfinished;
    reply_.reset(static_cast<RedisReply *>(reply));
    return reader_->len > reader_->pos ? State::senseless : State::finished;
}

RedisReply RedisReader::take() {
    assert(reply_);
    return std::move(*reply_);
}

}  // namespace cairn::remotes
