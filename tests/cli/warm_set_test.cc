// SPDX-License-Identifier: MIT
// `cairn export` and `cairn import` on real caches.
#include <cairn/cairn.h>
#include <cairn/internal/front_end.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "os/file.h"
#include "program.h"

namespace cairn::cli_test {
namespace {

using testing::HasSubstr;

using Cache = std::unique_ptr<cairn_cache, decltype(&cairn_close)>;

constexpr const char *kIdentifier = "gl-0123456789abcdef";

class WarmSetTest : public testing::Test {
  protected:
    Cache open(const std::string &identifier = kIdentifier, uint64_t version = 2,
               uint64_t limit = 0) const {
        cairn_options options = {};
        options.size = sizeof options;
        options.root = root_.c_str();
        options.identifier = identifier.c_str();
        options.version = version;
        options.about = "Programs of a test\nmore";
        options.limit_bytes = limit;
        cairn_cache *cache = nullptr;
        EXPECT_EQ(cairn_open(&options, &cache), CAIRN_OK);
        return {cache, cairn_close};
    }
    static std::string key_of(int number) {
        return std::string(20, static_cast<char>('a' + number));
    }
    static std::string entry_of(int number, size_t size) {
        std::string entry(size, static_cast<char>(number));
        const std::string key = key_of(number);
        EXPECT_EQ(cairn_egl_entry_seal(key.data(), key.size(), entry.data(), size), CAIRN_OK);
        return entry;
    }
    static void put(const Cache &cache, const std::string &key, const std::string &value) {
        EXPECT_EQ(
            cairn_put(cache.get(), key.data(), key.size(), value.data(), value.size(), nullptr),
            CAIRN_OK);
    }
    static std::string get(const Cache &cache, const std::string &key) {
        cairn_blob *blob = nullptr;
        if (cairn_get(cache.get(), key.data(), key.size(), &blob) != CAIRN_OK) return "";
        std::string value(static_cast<const char *>(cairn_blob_data(blob)), cairn_blob_size(blob));
        cairn_blob_free(blob);
        return value;
    }
    // Three programs, and what is none.
    void fill() {
        const Cache cache = open();
        for (int number = 0; number < 3; ++number) {
            put(cache, key_of(number), entry_of(number, 100));
        }
        put(cache, std::string(32, 's'), "CGS1");
        put(cache, std::string(20, 'z'), "no entry of the front end, but a key as long");
    }
    Finished run(const std::vector<std::string> &arguments) const {
        return cairn(arguments, {{"CAIRN_DIR", root_}});
    }
    void expect_refused(const std::string &bytes, const std::string &why) {
        folder_.write("bad.set", bytes);
        const Finished refused = run({"import", file_of("bad.set")});
        EXPECT_EQ(refused.exit_code, 1);
        EXPECT_THAT(refused.standard_error, HasSubstr(why));
    }
    std::string file_of(const std::string &name) const { return folder_ / name; }

    Folder folder_;
    std::string root_ = folder_ / "root";
    std::string file_ = folder_ / "warm.set";
};

TEST_F(WarmSetTest, WhatIsExportedComesBackElsewhere) {
    fill();
    const Finished exported = run({"export", kIdentifier, file_});
    EXPECT_EQ(exported.exit_code, 0) << exported.standard_error;
    EXPECT_THAT(exported.standard_output, HasSubstr("Exported 3 programs"));
    std::filesystem::remove_all(root_);
    const Finished imported = run({"import", file_});
    EXPECT_EQ(imported.exit_code, 0) << imported.standard_error;
    EXPECT_THAT(imported.standard_output, HasSubstr("Imported 3 programs into gl-0123"));
    EXPECT_THAT(run({"ls"}).standard_output, HasSubstr("Programs of a test"));
    const Cache cache = open();
    for (int number = 0; number < 3; ++number) {
        EXPECT_EQ(get(cache, key_of(number)), entry_of(number, 100));
    }
    EXPECT_EQ(get(cache, std::string(20, 'z')), "");
    const Finished again = run({"import", file_});
    EXPECT_THAT(again.standard_output, HasSubstr("Imported 0 programs"));
    EXPECT_THAT(again.standard_output, HasSubstr("3 were there already"));
}

TEST_F(WarmSetTest, WhatIsThereStays) {
    fill();
    run({"export", kIdentifier, file_});
    const std::string newer = entry_of(1, 200);
    put(open(), key_of(1), newer);
    EXPECT_EQ(run({"import", file_}).exit_code, 0);
    EXPECT_EQ(get(open(), key_of(1)), newer);
}

TEST_F(WarmSetTest, ABadFileChangesNothingAndSaysWhy) {
    fill();
    run({"export", kIdentifier, file_});
    const std::string good = read_file(file_);
    std::filesystem::remove_all(root_);
    expect_refused("", "no file of `cairn export`");
    expect_refused(
        "\x7f"
        "ELF",
        "no file of `cairn export`");
    expect_refused(good.substr(0, good.size() / 2), "damaged or not complete");
    std::string flipped = good;
    flipped[good.size() / 2] ^= 4;
    expect_refused(flipped, "damaged or not complete");
    EXPECT_FALSE(std::filesystem::exists(root_ + "/" + kIdentifier));
    EXPECT_EQ(run({"import", file_of("none")}).standard_error,
              "cairn: cannot read " + file_of("none") + ": No such file or directory\n");
    EXPECT_EQ(run({"import", "/"}).standard_error, "cairn: cannot read /: Is a directory\n");
}

TEST_F(WarmSetTest, ACacheThatIsNotTheFrontEndsIsLeftAlone) {
    put(open("my-engine"), key_of(0), entry_of(0, 100));
    EXPECT_EQ(run({"export", "my-engine", file_}).exit_code, 0);
    const Finished refused = run({"import", file_});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.standard_error, HasSubstr("not of the front ends for GL"));
}

TEST_F(WarmSetTest, AnotherVersionEmptiesNothing) {
    fill();
    run({"export", kIdentifier, file_});
    put(open(kIdentifier, 3), key_of(9), entry_of(9, 100));
    const Finished refused = run({"import", file_});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.standard_error, HasSubstr("version 3, not 2"));
    EXPECT_EQ(get(open(kIdentifier, 3), key_of(9)), entry_of(9, 100));
}

// The index says which version a cache has; without it, its segments do.
TEST_F(WarmSetTest, AnotherVersionWithoutAnIndexEmptiesNothing) {
    fill();
    run({"export", kIdentifier, file_});
    put(open(kIdentifier, 3), key_of(9), entry_of(9, 100));
    ASSERT_TRUE(std::filesystem::remove(root_ + "/" + kIdentifier + "/cache.idx"));
    const Finished refused = run({"import", file_});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.standard_error, HasSubstr("version 3, not 2"));
    EXPECT_EQ(get(open(kIdentifier, 3), key_of(9)), entry_of(9, 100));
}

TEST_F(WarmSetTest, AFileIsReplacedAndWhatIsNoneIsWrittenTo) {
    fill();
    ASSERT_EQ(run({"export", kIdentifier, file_}).exit_code, 0);
    const std::string set = read_file(file_);
    folder_.write("older", "older");
    std::filesystem::create_symlink("older", file_of("link"));
    EXPECT_EQ(run({"export", kIdentifier, file_of("link")}).exit_code, 0);
    EXPECT_EQ(read_file(file_of("older")), set);
    EXPECT_TRUE(std::filesystem::is_symlink(file_of("link")));
    std::filesystem::create_symlink("/dev/null", file_of("device"));
    EXPECT_EQ(run({"export", kIdentifier, file_of("device")}).exit_code, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(file_of("device")));
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    const Finished full = run({"export", kIdentifier, "/dev/full"});
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_THAT(full.standard_error, HasSubstr("cannot write /dev/full: No space left"));
}

TEST_F(WarmSetTest, ADashIsStandardInputAndOutput) {
    fill();
    ASSERT_EQ(run({"export", kIdentifier, file_}).exit_code, 0);
    for (const char *output : {"-", "/dev/stdout"}) {
        const Finished exported = run({"export", kIdentifier, output});
        EXPECT_EQ(exported.exit_code, 0) << exported.standard_error;
        EXPECT_EQ(exported.standard_output, read_file(file_)) << output;
        EXPECT_THAT(exported.standard_error, HasSubstr("Exported 3 programs"));
    }
    std::filesystem::remove_all(root_);
    const Finished imported = cairn({"import", "-"}, {{"CAIRN_DIR", root_}}, file_);
    EXPECT_EQ(imported.exit_code, 0) << imported.standard_error;
    EXPECT_THAT(imported.standard_output, HasSubstr("Imported 3 programs"));
    const Finished nothing = run({"import", "-"});
    EXPECT_THAT(nothing.standard_error, HasSubstr("standard input is not imported: "));
}

TEST_F(WarmSetTest, AFailedExportLeavesNoFile) {
    fill();
    std::filesystem::create_directories(file_of("warm/is a folder"));
    EXPECT_EQ(run({"export", kIdentifier, file_of("warm")}).exit_code, 1);
    for (const auto &entry : std::filesystem::directory_iterator(file_of("."))) {
        const std::string name = entry.path().filename();
        EXPECT_TRUE(name == "root" || name == "warm") << name;
    }
}

TEST_F(WarmSetTest, WhatNoImportWouldTakeIsLeftOut) {
    constexpr size_t kMost = 64 << 20;
    fill();
    {
        const Cache cache = open();
        put(cache, key_of(7), entry_of(7, kMost));
        put(cache, key_of(8), entry_of(8, kMost + 1));
    }
    const Finished exported = run({"export", kIdentifier, file_});
    EXPECT_EQ(exported.exit_code, 0) << exported.standard_error;
    EXPECT_THAT(exported.standard_output, HasSubstr("Exported 4 programs"));
    EXPECT_THAT(exported.standard_output, HasSubstr("Left out 1 program above 64 MiB"));
    const Finished imported = run({"import", file_});
    EXPECT_THAT(imported.standard_output, HasSubstr("4 were there already"));
}

TEST_F(WarmSetTest, WhatIsNoWarmSetIsNotReadToItsEnd) {
    const Finished endless = run({"import", "/dev/zero"});
    EXPECT_EQ(endless.exit_code, 1);
    EXPECT_THAT(endless.standard_error, HasSubstr("no file of `cairn export`"));
    folder_.write("large.set", "CAIRNSET");
    std::filesystem::resize_file(file_of("large.set"), (uint64_t{1} << 31) + 1);
    const Finished large = run({"import", file_of("large.set")});
    EXPECT_EQ(large.exit_code, 1);
    EXPECT_THAT(large.standard_error, HasSubstr("is too large"));
}

// The cache evicts the most expensive entries last.
TEST_F(WarmSetTest, NoFileMakesItsEntriesStayForEver) {
    const std::string entry = entry_of(1, 100);
    const auto cost = [&](const Cache &cache) {
        cairn_blob *blob = nullptr;
        EXPECT_EQ(cairn_get(cache.get(), key_of(1).data(), 20, &blob), CAIRN_OK);
        const uint32_t result = cairn_blob_cost_us(blob);
        cairn_blob_free(blob);
        return result;
    };
    cairn_put_options options = {};
    options.size = sizeof options;
    for (const uint32_t cost_us : {9'000'000u, UINT32_MAX}) {
        options.cost_us = cost_us;
        cairn_put(open().get(), key_of(1).data(), 20, entry.data(), entry.size(), &options);
        run({"export", kIdentifier, file_});
        std::filesystem::remove_all(root_);
        run({"import", file_});
        EXPECT_EQ(cost(open()), std::min(cost_us, 10'000'000u));
    }
}

// The text that stays on the screen after this was written to a terminal.
std::string screen(const std::string &shown) {
    std::string text;
    for (size_t i = 0; i < shown.size(); ++i) {
        if (shown.compare(i, 4, "\r\x1b[K") == 0) {
            text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
            i += 3;
        } else if (shown[i] != '\r') {
            text += shown[i];
        }
    }
    return text;
}

TEST_F(WarmSetTest, AtATerminalLongWorkShowsALineThatGoes) {
    fill();
    ASSERT_EQ(run({"export", kIdentifier, file_}).exit_code, 0);
    const std::string set = read_file(file_);
    const Environment environment = {{"CAIRN_DIR", root_}};
    const Environment dumb = {{"CAIRN_DIR", root_}, {"TERM", "dumb"}};
    // Each waits for its fifo; the first two began before the third, and show nothing.
    std::vector<std::unique_ptr<TerminalProgram>> programs;
    std::vector<UniqueFd> inputs;
    for (const char *name : {"quiet", "dumb", "shown"}) {
        const std::string fifo = file_of(name);
        ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
        std::vector<std::string> arguments = {"import", fifo};
        if (name == std::string("quiet")) arguments.emplace_back("--quiet");
        programs.push_back(std::make_unique<TerminalProgram>(
            cairn_command(arguments), name == std::string("dumb") ? dumb : environment));
        inputs.emplace_back(::open(fifo.c_str(), O_WRONLY | O_CLOEXEC));
        ASSERT_EQ(write(inputs.back().get(), set.data(), 100), 100);
    }
    EXPECT_TRUE(programs[2]->wait_for("Reading " + file_of("shown") + ": "))
        << programs[2]->shown();
    for (size_t i = 0; i < programs.size(); ++i) {
        EXPECT_GT(write(inputs[i].get(), set.data() + 100, set.size() - 100), 0);
        inputs[i].reset(-1);
        EXPECT_EQ(programs[i]->wait(), 0) << programs[i]->shown();
    }
    EXPECT_EQ(programs[0]->shown(), "");
    const std::string said =
        "Imported 0 programs into " + std::string(kIdentifier) + "; 3 were there already\n";
    EXPECT_EQ(screen(programs[1]->shown()), said);
    EXPECT_THAT(programs[1]->shown(), testing::Not(HasSubstr("Reading")));
    EXPECT_EQ(screen(programs[2]->shown()), said);
}

TEST_F(WarmSetTest, NothingToExportIsAFailure) {
    open();
    const Finished empty = run({"export", kIdentifier, file_});
    EXPECT_EQ(empty.exit_code, 1);
    EXPECT_THAT(empty.standard_error, HasSubstr("has no programs"));
    EXPECT_EQ(run({"export", "gl-none", file_}).exit_code, 1);
    EXPECT_FALSE(std::filesystem::exists(file_));
    fill();
    const Finished nowhere = run({"export", kIdentifier, file_of("no/such/folder")});
    EXPECT_EQ(nowhere.exit_code, 1);
    EXPECT_THAT(nowhere.standard_error, HasSubstr("cannot write"));
}

}  // namespace
}  // namespace cairn::cli_test
