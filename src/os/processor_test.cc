// SPDX-License-Identifier: MIT
#include "os/processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstddef>

namespace cairn {
namespace {

using testing::MatchesRegex;

// Where this thread may run; there again at its end.
class Affinity {
  public:
    Affinity() { EXPECT_EQ(::sched_getaffinity(0, sizeof before_, &before_), 0); }
    ~Affinity() { ::sched_setaffinity(0, sizeof before_, &before_); }
    Affinity(const Affinity &) = delete;
    Affinity &operator=(const Affinity &) = delete;

    bool has(std::size_t processor) const { return CPU_ISSET(processor, &before_); }
    void move_to(std::size_t processor) const {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        EXPECT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    }

  private:
    cpu_set_t before_;
};

TEST(ProcessorTest, TheTextNamesTheProcessorAndItsFeatures) {
#if defined(__x86_64__) || defined(__i386__)
    EXPECT_THAT(processor_text(), MatchesRegex("x86 family [0-9]+ model [0-9]+, features "
                                               "([0-9a-f]+\\.){13}[0-9a-f]+"));
#if defined(__AVX2__)
    EXPECT_THAT(processor_text(), testing::Not(testing::EndsWith(".0")));
#endif
#else
    EXPECT_THAT(processor_text(), MatchesRegex("[!-~]+, features [0-9a-f]+\\.[0-9a-f]+"));
#endif
    EXPECT_EQ(processor_text().find('\n'), std::string::npos) << "it is one line of an identity";
}

// Or a program that moves from core to core would lose its programs.
TEST(ProcessorTest, TheTextIsTheSameOnAllCores) {
    const std::string text = processor_text();
    const Affinity affinity;
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
        if (!affinity.has(i)) continue;
        affinity.move_to(i);
        EXPECT_EQ(processor_text(), text) << "processor " << i;
    }
}

TEST(ProcessorTest, ProcessorsAreCountedAsAffinityAllowsThem) {
    const ProcessorCount before = count_processors();
    EXPECT_GE(before.usable, 1);
    EXPECT_GE(before.configured, before.usable);
    const Affinity affinity;
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
        if (!affinity.has(i)) continue;
        affinity.move_to(i);
        EXPECT_EQ(count_processors().usable, 1);
        EXPECT_EQ(count_processors().configured, before.configured);
        break;
    }
}

}  // namespace
}  // namespace cairn
