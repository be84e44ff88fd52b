// The same as the system itself does it: directories that may not be written, descriptors used up,
// a file system that is full.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "support/cache.h"
#include "support/files.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

constexpr int kSkip = 77;

class RealFaults : public ::testing::Test {
  protected:
    RealFaults() { options_.root = root_ / "root"; }

    void fill() {
        Cache cache(options_);
        ASSERT_EQ(cache.result(), CAIRN_OK);
        for (int i = 0; i < 20; ++i) ASSERT_EQ(cache.put(key(i), key(i)), CAIRN_OK);
    }
    static ByteVector key(int number) {
        const std::string text = "key " + std::to_string(number);
        return {text.begin(), text.end()};
    }
    // "" when all entries are found and nothing can be stored.
    std::string read_only_use() {
        LogLines log;
        options_.log = &log;
        Cache cache(options_);
        options_.log = nullptr;
        if (cache.result() != CAIRN_OK) return "does not open";
        for (int i = 0; i < 20; ++i) {
            const auto blob = cache.get(key(i));
            if (!blob || as_string(blob->bytes()) != as_string(key(i)))
                return "an entry is missing";
        }
        if (cache.put(key(100), key(1)) != CAIRN_ERROR_READ_ONLY) return "put does not refuse";
        if (cache.put(key(1), key(2)) != CAIRN_ERROR_READ_ONLY) return "replacing does not refuse";
        if (cache.remove(key(1)) != CAIRN_ERROR_READ_ONLY) return "remove does not refuse";
        if (cache.clear() != CAIRN_ERROR_READ_ONLY) return "clear does not refuse";
        if (cache.contains(key(100)) != CAIRN_MISS) return "the refused entry is there";
        if (!cache.get(key(1))) return "an entry was lost";
        return "";
    }

    // Runs `body` in a child; skips the test when it says so.
    static void in_child(const std::function<int()> &body) {
        const std::string end = run_in_child(60, body);
        if (end == "exit code " + std::to_string(kSkip)) GTEST_SKIP() << "not permitted here";
        EXPECT_EQ(end, "");
    }
    static int told(const std::string &problem) {
        if (!problem.empty()) std::fprintf(stderr, "%s\n", problem.c_str());
        return problem.empty() ? 0 : 1;
    }
    // Becomes a user without privileges, for whom permissions count.
    static bool become_ordinary() {
        return ::geteuid() != 0 ||
               (::setresgid(65534, 65534, 65534) == 0 && ::setresuid(65534, 65534, 65534) == 0);
    }

    TempDirectory root_;
    CacheOptions options_;
};

TEST_F(RealFaults, ACacheThatMayNotBeWrittenIsRead) {
    in_child([&] {
        ::chmod(root_.path().c_str(), 0755);
        if (::geteuid() == 0 && ::chown(root_.path().c_str(), 65534, 65534) != 0) return kSkip;
        if (!become_ordinary()) return kSkip;
        fill();
        const std::string directory = options_.root + "/" + options_.identifier;
        for (const char *name : {"cache.idx", "cache.lock"}) {
            ::chmod(path_in_cache(directory, name).c_str(), 0400);
        }
        ::chmod(store_files(directory).c_str(), 0500);
        ::chmod(directory.c_str(), 0500);
        return told(read_only_use());
    });
}

TEST_F(RealFaults, ARootThatMayNotBeWrittenIsRefusedWithoutHarm) {
    in_child([&] {
        ::chmod(root_.path().c_str(), 0755);
        if (::geteuid() == 0 && ::chown(root_.path().c_str(), 65534, 65534) != 0) return kSkip;
        if (!become_ordinary()) return kSkip;
        ::chmod(root_.path().c_str(), 0500);
        LogLines log;
        options_.log = &log;
        Cache cache(options_);
        if (cache.is_open()) return told("a cache that cannot be made opens");
        if (cache.result() != CAIRN_ERROR_DENIED) return told("another result than denied");
        return told(log.complaints().size() == 1 ? "" : "not one line that says why");
    });
}

TEST_F(RealFaults, AReadOnlyFileSystemIsRead) {
    fill();
    const std::string root = options_.root;
    in_child([&] {
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount(root.c_str(), root.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
            ::mount(nullptr, root.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) !=
                0) {
            return kSkip;
        }
        return told(read_only_use());
    });
}

TEST_F(RealFaults, AReadOnlyFileSystemWithoutACacheIsRefused) {
    const std::string root = options_.root;
    ASSERT_EQ(::mkdir(root.c_str(), 0700), 0);
    in_child([&] {
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount(root.c_str(), root.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
            ::mount(nullptr, root.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) !=
                0) {
            return kSkip;
        }
        const Cache cache(options_);
        return told(!cache.is_open() ? "" : "a cache that cannot be made opens");
    });
}

TEST_F(RealFaults, AFullFileSystemRefusesPutsAndKeepsWhatIsThere) {
    const std::string root = options_.root;
    ASSERT_EQ(::mkdir(root.c_str(), 0700), 0);
    in_child([&] {
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("cache", root.c_str(), "tmpfs", 0, "size=16m,mode=0700") != 0) {
            return kSkip;
        }
        Cache cache(options_);
        if (!cache.is_open()) return told("does not open");
        const ByteVector value(100'000, 0x42);
        std::vector<int> stored;
        int refused = CAIRN_OK;
        for (int i = 0; i < 300; ++i) {
            const int result = cache.put(key(i), value);
            if (result == CAIRN_OK) stored.push_back(i);
            if (result != CAIRN_OK) refused = result;
        }
        if (refused != CAIRN_ERROR_NO_SPACE) {
            return told(std::string("refused with: ") + cairn_result_string(refused));
        }
        if (stored.size() < 20) return told("next to nothing fits");
        for (const int i : stored) {
            const auto blob = cache.get(key(i));
            if (!blob || as_string(blob->bytes()) != as_string(value))
                return told("an entry is lost");
        }
        if (cache.clear() != CAIRN_OK) return told("cannot be cleared");
        if (cache.put(key(0), value) != CAIRN_OK) return told("takes nothing after it was cleared");
        return told(cache.get(key(0)) ? "" : "what was stored last is not found");
    });
}

// The table of descriptors is used up at each possible moment; then there are some again.
TEST_F(RealFaults, UsedUpDescriptorsLoseNothing) {
    fill();
    in_child([&] {
        const int lowest = ::dup(0);
        ::close(lowest);
        for (int spare = 0; spare < 12; ++spare) {
            rlimit before = {};
            ::getrlimit(RLIMIT_NOFILE, &before);
            const rlimit few = {static_cast<rlim_t>(lowest + spare), before.rlim_max};
            ::setrlimit(RLIMIT_NOFILE, &few);
            Cache cache(options_);
            for (int i = 0; cache.is_open() && i < 20; ++i) {
                const auto blob = cache.get(key(i));
                if (blob && as_string(blob->bytes()) != as_string(key(i)))
                    return told("wrong value");
                (void)cache.put(key(i), key(i));
                (void)cache.put(key(1000 + i), key(i));
            }
            ::setrlimit(RLIMIT_NOFILE, &before);
            Cache again;
            Cache &serving = cache.is_open() ? cache : again;
            if (!cache.is_open() && again.open(options_) != CAIRN_OK) return told("does not open");
            for (int i = 0; i < 20; ++i) {
                const auto blob = serving.get(key(i));
                if (!blob || as_string(blob->bytes()) != as_string(key(i))) {
                    return told("an entry was lost with " + std::to_string(spare) + " descriptors");
                }
            }
            if (serving.put(key(2000), key(spare)) != CAIRN_OK)
                return told("nothing can be stored");
        }
        return 0;
    });
}

}  // namespace
}  // namespace cairn_test
