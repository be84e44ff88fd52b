// SPDX-License-Identifier: MIT
// A driver that compiles for the processor: with other processors, programs are of another cache,
// and none is offered to the driver that it would refuse.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstddef>
#include <string>

#include "runner.h"

namespace gl_test {
namespace {

// A processor on which this process may run, where it may run on others as well; else "".
std::string one_of_several() {
    cpu_set_t usable;
    if (::sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) < 2) return "";
    std::size_t first = 0;
    while (!CPU_ISSET(first, &usable)) ++first;
    return std::to_string(first);
}

class ProcessorTest : public testing::TestWithParam<WindowSystem> {
  protected:
    void SetUp() override {
        SKIP_WITHOUT(GetParam());
        plain_ = stage_.plain("switched");
        ASSERT_EQ(plain_.status, "");
    }

    Played run(const Environment &more = {}) {
        Played played = stage_.cached("switched", more);
        EXPECT_EQ(played.status, "");
        EXPECT_EQ(played.transcript, plain_.transcript);
        EXPECT_EQ(played.complaints, "");
        EXPECT_EQ(played.report.rejected, 0u) << "the driver was offered what it refuses";
        return played;
    }
    void expect_cold(const Environment &more = {}) {
        const Played cold = run(more);
        EXPECT_GT(cold.report.driver_links, 0u);
        EXPECT_GT(cold.report.misses, 0u);
        EXPECT_GT(cold.report.stored, 0u);
    }
    void expect_warm(const Environment &more = {}) {
        const Played warm = run(more);
        EXPECT_EQ(warm.report.hits, warm.report.link_calls);
        EXPECT_EQ(warm.report.driver_links, 0u);
        EXPECT_GT(warm.report.hits, 0u);
    }

    Stage stage_{GetParam()};
    Played plain_;
};

TEST_P(ProcessorTest, AnotherNumberOfProcessorsHasACacheOfItsOwn) {
    const std::string one = one_of_several();
    if (one.empty()) GTEST_SKIP() << "this process may run on one processor only";
    expect_cold();
    expect_warm();
    stage_.prefix = {"taskset", "-c", one};
    expect_cold();
    expect_warm();
    stage_.prefix.clear();
    expect_warm();
}

// By the variables that simulate other processors, as far as the driver has them.
TEST_P(ProcessorTest, AProcessorThatCanLessHasACacheOfItsOwn) {
    expect_cold();
    const Environment less[] = {{{"GALLIUM_OVERRIDE_CPU_CAPS", "sse4.1"}},
                                {{"GALLIUM_NOSSE", "true"}},
                                {{"LP_NATIVE_VECTOR_WIDTH", "128"}}};
    for (const Environment &variables : less) {
        SCOPED_TRACE(variables.begin()->first);
        expect_cold(variables);
        expect_warm(variables);
    }
    expect_warm();
}

// They do not change what is compiled.
TEST_P(ProcessorTest, AnotherNumberOfThreadsHasTheSameCache) {
    expect_cold();
    expect_warm({{"LP_NUM_THREADS", "1"}});
    expect_warm({{"LP_NUM_THREADS", "0"}});
}

INSTANTIATE_TEST_SUITE_P(Both, ProcessorTest, testing::ValuesIn(kWindowSystems),
                         [](const auto &each) { return name_of(each.param); });

}  // namespace
}  // namespace gl_test
