// SPDX-License-Identifier: MIT
// One process that shares a cache with processes of the other kind, of 32 or 64 bits.
//
//   i386_peer put PLACE WRITER WRITERS COUNT    puts COUNT values of its own and as many that all
//                                               writers put, and reads those of all
//   i386_peer check PLACE WRITERS COUNT         exit code 0: the values of all writers are there
//   i386_peer read PLACE WRITERS COUNT          prints how many of them are there, and how many are said to be
//                                               evicted
//   i386_peer remember ROOT WRITER COUNT        notes and counts so many programs for the cache there
//   i386_peer know ROOT WRITERS COUNT           exit code 0: what all writers have noted and counted is known
//
// PLACE is `LIMIT:DIRECTORY`, or `broker:SOCKET`. Exit code 3: a value was wrong; 4: one was missing;
// 5: a call failed; 2: wrong usage.
#include <cairn/cairn_broker.h>
#include <cairn/internal/front_end.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "history/counters.h"
#include "history/history.h"
#include "history/reader.h"
#include "support/cache.h"
#include "support/random.h"
#include "support/stamped_value.h"

namespace {

using namespace cairn_test;

constexpr std::uint64_t kSharedFamily = 1000;

[[noreturn]] void fail(int code, const std::string &what) {
    std::fprintf(stderr, "i386_peer: %s\n", what.c_str());
    std::exit(code);
}

class Peer {
  public:
    explicit Peer(const std::string &place) {
        const size_t colon = place.find(':');
        const std::string where = place.substr(colon + 1);
        const int result = place.starts_with("broker:")
                               ? open_broker(where)
                               : open_directory(std::strtoull(place.c_str(), nullptr, 10), where);
        if (result != CAIRN_OK) fail(5, "open " + std::to_string(result));
    }
    ~Peer() { cairn_close(cache_); }
    Peer(const Peer &) = delete;
    Peer &operator=(const Peer &) = delete;

    void put(std::uint64_t family, std::uint64_t number, std::uint64_t writer) {
        const ByteVector key = numbered_key(family, number, 60);
        // Most are small; some have a segment's blocks to themselves.
        const std::size_t size =
            kStampSize + static_cast<std::size_t>(mix(number) % (number % 50 == 0 ? 200'000 : 900));
        const ByteVector value = stamped_value({family, writer, number}, size);
        // A broker that has much to do says that it is busy, and has not got it. Where another process makes
        // room, and gets no processor for long, the cache is full.
        int result = CAIRN_ERROR_BUSY;
        for (int tries = 0; is_passing(result) && tries < 100; ++tries) {
            if (tries > 0) cairn_flush(cache_, 100);
            if (result == CAIRN_ERROR_FULL) usleep(20'000);
            result = cairn_put(cache_, key.data(), key.size(), value.data(), value.size(), nullptr);
        }
        if (result != CAIRN_OK && result != CAIRN_ERROR_BUSY) {
            fail(5, "put " + std::to_string(result));
        }
    }
    // What has been put is on its way to a broker until then.
    void flush() {
        const int result = cairn_flush(cache_, 60'000);
        if (result != CAIRN_OK) fail(5, "flush " + std::to_string(result));
    }
    bool is_evicted(std::uint64_t family, std::uint64_t number) {
        const ByteVector key = numbered_key(family, number, 60);
        std::uint32_t fate = 0;
        std::uint64_t when_s = 0;
        return cairn_fate(cache_, key.data(), key.size(), &fate, &when_s) == CAIRN_OK &&
               fate == CAIRN_FATE_EVICTED;
    }
    // Whether it is there.
    bool get(std::uint64_t family, std::uint64_t number) {
        const ByteVector key = numbered_key(family, number, 60);
        cairn_blob *blob = nullptr;
        const int result = cairn_get(cache_, key.data(), key.size(), &blob);
        if (result == CAIRN_MISS) return false;
        if (result != CAIRN_OK) fail(5, "get " + std::to_string(result));
        const Blob owner(blob);
        const auto stamp = read_stamp(owner.bytes());
        if (!stamp || stamp->key != family || stamp->version != number) {
            fail(3, "a wrong value of family " + std::to_string(family));
        }
        return true;
    }

  private:
    static bool is_passing(int result) {
        return result == CAIRN_ERROR_BUSY || result == CAIRN_ERROR_FULL;
    }
    int open_directory(std::uint64_t limit, const std::string &directory) {
        cairn_options options = {};
        options.size = sizeof options;
        options.root = directory.c_str();
        options.identifier = "both";
        options.version = 1;
        options.mode = CAIRN_MODE_DISK;
        options.limit_bytes = limit << 20;
        options.memory_bytes = 1 << 20;
        return cairn_open(&options, &cache_);
    }
    int open_broker(const std::string &socket) {
        cairn_broker_options options = {};
        options.size = sizeof options;
        options.socket_path = socket.c_str();
        options.identifier = "both";
        options.version = 1;
        return cairn_broker_open(&options, &cache_);
    }

    cairn_cache *cache_ = nullptr;
};

void put_all(Peer &peer, std::uint64_t self, std::uint64_t writers, std::uint64_t count) {
    Random random(self);
    for (std::uint64_t i = 0; i < count; ++i) {
        peer.put(self, i, self);
        peer.put(kSharedFamily, i, self);
        peer.get(random.below(static_cast<std::size_t>(writers)),
                 random.below(static_cast<std::size_t>(count)));
        peer.get(kSharedFamily, random.below(static_cast<std::size_t>(i + 1)));
    }
    peer.flush();
}

struct Found {
    std::uint64_t there = 0, evicted = 0;
};
Found read_all(Peer &peer, std::uint64_t writers, std::uint64_t count, bool must) {
    Found found;
    for (std::uint64_t family = 0; family <= writers; ++family) {
        const std::uint64_t name = family == writers ? kSharedFamily : family;
        for (std::uint64_t i = 0; i < count; ++i) {
            const bool is_there = peer.get(name, i);
            if (must && !is_there) {
                fail(4, "value " + std::to_string(i) + " of family " + std::to_string(name) +
                            " is missing");
            }
            found.there += is_there ? 1 : 0;
            if (!is_there && peer.is_evicted(name, i)) ++found.evicted;
        }
    }
    return found;
}

constexpr const char *kRemembering = "gl-app-0123456789abcdef";
constexpr std::uint64_t kDay = 20'000;

std::unique_ptr<cairn::History> open_history(const std::string &root) {
    auto opened = cairn::History::open({root, kRemembering, 1, 256u << 20});
    if (!opened.ok()) fail(5, "the history does not open");
    return std::move(*opened);
}

cairn::ProgramParts program(std::uint64_t writer, std::uint64_t i) {
    const std::uint64_t mixed = mix(writer, i);
    return {mixed, mix(mixed), static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(i)};
}

cairn::LinkKey link_key(std::uint64_t writer) {
    cairn::LinkKey key = {};
    key.fill(static_cast<std::uint8_t>(writer + 1));
    return key;
}

std::string sources(std::uint64_t writer) {
    return "fragment:\nof writer " + std::to_string(writer) + "\n";
}

void remember(const std::string &root, std::uint64_t self, std::uint64_t count) {
    cairn::pretend_day(kDay);
    if (!cairn::open_counters(root)) fail(5, "the counters do not open");
    cairn::DayTally day("app", 7);
    const auto history = open_history(root);
    history->note_context(self, {static_cast<std::uint32_t>(self), 1});
    for (std::uint64_t i = 0; i < count; ++i) {
        history->note(program(self, i), true);
        history->add(cairn::Number::stored, 1);
        day.add(cairn::Number::stored, 1);
    }
    history->note_link({.key = link_key(self), .cost_ns = 1000 * (self + 1), .other = self});
    history->keep_sources(link_key(self), sources(self));
}

void know(const std::string &root, std::uint64_t writers, std::uint64_t count) {
    const auto directory = cairn::Directory::open(root + "/" + kRemembering);
    const auto read = cairn::read_history(directory.value());
    const auto texts = cairn::read_sources(directory.value());
    if (!read.ok()) fail(4, "there is no history");
    std::uint64_t runs = 0;  // but for those of others that have looked
    for (const cairn::RunRead &run : read->runs) {
        const std::uint64_t stored = run.numbers[cairn::Number::stored];
        if (run.is_alive || (stored != 0 && stored != count)) fail(3, "a wrong run");
        runs += stored == count ? 1 : 0;
    }
    if (runs != writers) fail(4, "a run is missing");
    const auto history = open_history(root);
    for (std::uint64_t writer = 0; writer < writers; ++writer) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const cairn::Seen seen = history->find(program(writer, i));
            if (seen.how != cairn::Seen::How::same) fail(4, "a program is missing");
        }
        const auto text = texts.find(link_key(writer));
        if (text == texts.end() || text->second != sources(writer)) fail(4, "sources are missing");
        const bool has_link = std::ranges::any_of(read->links, [&](const cairn::LinkRead &each) {
            return each.link.key == link_key(writer) && each.link.other == writer &&
                   each.link.cost_ns == 1000 * (writer + 1);
        });
        if (!has_link) fail(4, "a link is missing");
    }
    const auto days = cairn::read_counters(root);
    const bool is_counted = days.size() == 1 && days[0].day == kDay &&
                            days[0].application == "app" && days[0].generation == 7 &&
                            days[0].numbers[cairn::Number::stored] == writers * count;
    if (!is_counted) fail(3, "wrong numbers of the day");
}

}  // namespace

int main(int argc, char **argv) {
    const std::string_view what = argc > 1 ? argv[1] : "";
    const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
    if (what == "put" && argc == 6) {
        Peer peer(argv[2]);
        put_all(peer, number(3), number(4), number(5));
    } else if ((what == "check" || what == "read") && argc == 5) {
        Peer peer(argv[2]);
        const Found found = read_all(peer, number(3), number(4), what == "check");
        std::printf("%llu", static_cast<unsigned long long>(found.there));
        if (what == "read") std::printf(" %llu", static_cast<unsigned long long>(found.evicted));
        std::printf("\n");
    } else if (what == "remember" && argc == 5) {
        remember(argv[2], number(3), number(4));
    } else if (what == "know" && argc == 5) {
        know(argv[2], number(3), number(4));
    } else {
        return 2;
    }
    return 0;
}
