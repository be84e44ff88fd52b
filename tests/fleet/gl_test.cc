// SPDX-License-Identifier: MIT
// Real programs on a real driver: a machine that has never started an application pulls what another one has made, and
// its first start compiles nothing. A machine with another driver or another processor gets nothing of that.
#include <gmock/gmock.h>
#include <sched.h>

#include <filesystem>
#include <map>
#include <tuple>

#include "backends.h"
#include "fleet_fixture.h"
#include "gl/runner.h"
#include "whole.h"

namespace cairn::fleet_test {
namespace {

using cairn_test::Backend;
using gl_test::Played;
using gl_test::WindowSystem;
using ::testing::HasSubstr;

// It draws, with programs that it has linked.
constexpr const char *kScenario = "uniforms_and_blocks";
// Mesa writes its cache by a thread for which other work goes first.
constexpr const char *kEnd = "linger";
constexpr const char *kApplication = "gl_client_linked";

// A machine with an application, started by gl_test::Stage.
class GlMachine {
  public:
    GlMachine(WindowSystem window_system, const Environment &variables = {})
        : stage(window_system) {
        stage.has_usual_driver_cache = true;
        stage.extra = variables;
        fs::create_directories(stage.directory() / "cache-home");
        machine.set("CAIRN_DIR", stage.cache_root());
        machine.set("XDG_CONFIG_HOME", stage.directory() / "configuration");
        machine.set("XDG_CACHE_HOME", stage.directory() / "cache-home");
        machine.set("LIBGL_ALWAYS_SOFTWARE", "1");
        machine.set("DISPLAY", window_system == WindowSystem::glx ? gl_test::x_display() : "");
        // The real one, as it is found beside `cairn`.
        machine.set("CAIRN_WARM_PLAYER", "");
        for (const auto &[name, value] : variables) machine.set(name, value);
    }
    void configure(const std::string &text) const {
        const std::string folder = stage.directory() / "configuration/cairn";
        fs::create_directories(folder);
        std::ofstream(folder + "/config") << text;
    }
    Played start() {
        Played played = stage.cached(kScenario, {}, kEnd);
        EXPECT_EQ(played.status, "") << played.complaints;
        EXPECT_EQ(played.report.rejected, 0u) << "the driver was offered what it refuses";
        return played;
    }
    // Files of the application's own in which the driver keeps machine code.
    std::size_t driver_files() const {
        constexpr std::size_t kNameSize = 38;
        std::size_t count = 0;
        std::error_code error;
        for (const auto &each :
             fs::recursive_directory_iterator(stage.cache_root() + "/.driver", error)) {
            const bool is_one =
                each.is_regular_file() && each.path().filename().string().size() == kNameSize;
            count += is_one ? 1u : 0u;
        }
        return count;
    }
    bool has_pulled() const {
        return fs::exists(stage.cache_root() + "/.packs/gl-" + kApplication);
    }

    gl_test::Stage stage;
    Machine machine;
};

// One that has started the application until nothing more came of it, and what its first start did.
struct FilledMachine {
    explicit FilledMachine(WindowSystem window_system) : filled(window_system) {
        filled.configure(std::string("[application ") + kApplication + "]\ndriver_cache = 1\n");
        filled.machine.make_key("ci");
        cold = filled.start();
        start_until_nothing_more_comes();
    }
    void start_until_nothing_more_comes() {
        std::size_t before = 0;
        for (int i = 0; i < 30; ++i) {
            const std::size_t now = filled.driver_files();
            if (now == before && now != 0) break;
            before = now;
            (void)filled.start();
        }
        EXPECT_GT(before, 0u) << "the driver keeps its code elsewhere";
    }

    GlMachine filled;
    Played cold;
};

// The same one for all tests of the process: it takes some seconds.
const FilledMachine &filled_machine(WindowSystem window_system) {
    static std::map<WindowSystem, FilledMachine> made;
    return made.try_emplace(window_system, window_system).first->second;
}

// The first machine has published what it has.
class PublishedTest : public ::testing::Test {
  protected:
    void publish(WindowSystem window_system, const std::string &url) {
        window_system_ = window_system;
        url_ = url;
        const FilledMachine &machine = filled_machine(window_system);
        first_ = &machine.filled;
        cold_ = machine.cold;
        ASSERT_GT(cold_.report.driver_links, 0u);
        EXPECT_THAT(first_->machine.done({"push", "--remote", url_, "--sign", "ci", kApplication}),
                    HasSubstr("pushed"));
        EXPECT_GT(expect_whole(url_).packs, 0u);
    }
    std::unique_ptr<GlMachine> another(const Environment &variables = {}) const {
        auto made = std::make_unique<GlMachine>(window_system_, variables);
        made->machine.trust(first_->machine.key("ci"));
        return made;
    }
    Words pull_words() const { return {"pull", "--remote", url_, kApplication}; }
    // As cold as without a fleet.
    void expect_cold_start(GlMachine &machine) const {
        EXPECT_FALSE(machine.has_pulled());
        const Played start = machine.start();
        EXPECT_EQ(start.report.driver_links, cold_.report.driver_links);
        EXPECT_EQ(start.report.hits, cold_.report.hits);
        EXPECT_EQ(start.report.misses, cold_.report.misses);
        EXPECT_EQ(start.report.stored, cold_.report.stored);
    }

    WindowSystem window_system_ = WindowSystem::egl;
    std::string url_;
    const GlMachine *first_ = nullptr;
    Played cold_;
};

// Each window system, over each storage whose server is there.
class GlStorageTest : public PublishedTest,
                      public ::testing::WithParamInterface<std::tuple<WindowSystem, std::string>> {
  protected:
    void SetUp() override {
        const auto &[window_system, storage] = GetParam();
        SKIP_WITHOUT(window_system);
        const std::string why = Backend::why_missing(storage);
        if (!why.empty()) GTEST_SKIP() << why;
        cairn_test::prepare_environment();
        publish(window_system, Backend::of(storage).url("gl-" + gl_test::name_of(window_system)));
    }
};

INSTANTIATE_TEST_SUITE_P(Each, GlStorageTest,
                         ::testing::Combine(::testing::ValuesIn(gl_test::kWindowSystems),
                                            ::testing::ValuesIn(cairn_test::kAllBackends)),
                         [](const auto &each) {
                             return gl_test::name_of(std::get<0>(each.param)) + "_" +
                                    std::get<1>(each.param);
                         });

TEST_P(GlStorageTest, TheFirstStartOfTheSecondMachineCompilesNothing) {
    const auto second = another();
    EXPECT_THAT(second->machine.done(pull_words()), HasSubstr("pulled"));
    ASSERT_TRUE(second->has_pulled()) << "the player found no driver";
    const Played first = second->start();
    EXPECT_EQ(first.transcript, cold_.transcript);
    EXPECT_GT(first.report.hits, 0u);
    EXPECT_EQ(first.report.hits, first.report.link_calls);
    EXPECT_EQ(first.report.driver_links, 0u);
    EXPECT_EQ(first.report.driver_compiles, 0u);
    EXPECT_EQ(second->driver_files(), first_->driver_files())
        << "the driver made more machine code";
    // It has nothing that the others lack.
    second->machine.make_key("farm");
    EXPECT_THAT(second->machine.done({"push", "--remote", url_, "--sign", "farm", kApplication}),
                HasSubstr("nothing new"));
}

class GlFleetTest : public PublishedTest, public ::testing::WithParamInterface<WindowSystem> {
  protected:
    void SetUp() override {
        SKIP_WITHOUT(GetParam());
        fs::create_directories(folder_ / "storage");
        publish(GetParam(), "file://" + folder_ / "storage");
    }

    const Folder folder_;
};

INSTANTIATE_TEST_SUITE_P(Each, GlFleetTest, ::testing::ValuesIn(gl_test::kWindowSystems),
                         [](const auto &each) { return gl_test::name_of(each.param); });

TEST_P(GlFleetTest, AMachineWithAnotherDriverGetsNothingOfThat) {
    const auto third = another({{"LP_NATIVE_VECTOR_WIDTH", "128"}});
    EXPECT_THAT(third->machine.done(pull_words()), HasSubstr("nothing for this machine's"));
    expect_cold_start(*third);
    EXPECT_EQ(third->driver_files(), 0u);
    // Nor does it when it has started, and its caches tell the driver.
    EXPECT_THAT(third->machine.done(pull_words()), HasSubstr("nothing for this machine's"));
    EXPECT_FALSE(third->has_pulled());
}

TEST_P(GlFleetTest, AMachineWithAnotherProcessorGetsNothingOfThat) {
    cpu_set_t usable;
    if (::sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) < 2) {
        GTEST_SKIP() << "this process may run on one processor only";
    }
    std::size_t one = 0;
    while (!CPU_ISSET(one, &usable)) ++one;
    const Words prefix = {"taskset", "-c", std::to_string(one)};
    const auto third = another();
    third->stage.prefix = prefix;
    Words command = prefix;
    for (const std::string &word : cli_test::cairn_command(pull_words())) command.push_back(word);
    cli_test::Program pull(command, third->machine.environment());
    EXPECT_EQ(pull.wait(), 0) << pull.standard_error();
    EXPECT_THAT(pull.standard_output(), HasSubstr("nothing for this machine's"));
    expect_cold_start(*third);
    // The same machine with all of its processors is one of the fleet.
    third->stage.prefix.clear();
    EXPECT_THAT(third->machine.done(pull_words()), HasSubstr("pulled"));
    EXPECT_EQ(third->start().report.driver_links, 0u);
}

}  // namespace
}  // namespace cairn::fleet_test
