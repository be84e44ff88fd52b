// SPDX-License-Identifier: MIT
#include "record/tracker.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <unordered_map>

namespace cairn::gl::record {
namespace {

TEST(SlotsTest, TheHashIsOfWhatIsSetNow) {
    Slots one, other;
    for (uint64_t name = 1; name < 200; ++name) one.set(mixed(0, name), name);
    for (uint64_t name = 199; name > 0; --name) {
        other.set(mixed(0, name), 7);
        other.set(mixed(0, name), name);
    }
    EXPECT_EQ(one.hash(), other.hash());
    other.set(mixed(0, 50), 51);
    EXPECT_NE(one.hash(), other.hash());
    other.set(mixed(0, 50), 50);
    EXPECT_EQ(one.hash(), other.hash());
    other.set(mixed(0, 200), 0);
    EXPECT_NE(one.hash(), other.hash()) << "a zero is a number, too";
}

TEST(SlotsTest, AMapKeepsWhatItWasGiven) {
    NumberMap map;
    std::unordered_map<uint64_t, uint64_t> model;
    std::mt19937_64 random(7);
    for (int i = 0; i < 20000; ++i) {
        const uint64_t number = random() % 5000 + 1;
        map.at(number) = model[number] = random();
    }
    EXPECT_EQ(map.size(), model.size());
    for (const auto &[number, second] : model) EXPECT_EQ(map.at(number), second);
    map.clear();
    EXPECT_EQ(map.at(1), 0u);
}

constexpr Limits kLimits = {.units = 32, .draw_buffers = 8, .vertex_buffers = 16};

class TrackerTest : public testing::Test {
  protected:
    // A texture of this kind, bound to the unit.
    void make_texture(GLuint unit, GLuint name, uint64_t kind) {
        tracker_.activate(unit);
        tracker_.bind_texture(unit, GL_TEXTURE_2D, name);
        tracker_.set_of_texture(GL_TEXTURE_2D, 1, kind);
    }

    std::shared_ptr<Objects> objects_ = std::make_shared<Objects>();
    Tracker tracker_{objects_, kLimits};
};

TEST_F(TrackerTest, ATextureCountsByWhatItIs) {
    make_texture(0, 1, 10);
    const uint64_t first = tracker_.hash();
    make_texture(0, 2, 10);
    EXPECT_EQ(tracker_.hash(), first);
    make_texture(0, 3, 11);
    EXPECT_NE(tracker_.hash(), first);
    tracker_.bind_texture(0, GL_TEXTURE_2D, 1);
    EXPECT_EQ(tracker_.hash(), first);
    tracker_.bind_texture(0, GL_TEXTURE_2D, 0);
    EXPECT_NE(tracker_.hash(), first);
    tracker_.bind_texture(1, GL_TEXTURE_2D, 1);
    EXPECT_NE(tracker_.hash(), first) << "another unit";
}

TEST_F(TrackerTest, AnotherContextOfTheGroupKnowsTheTextures) {
    make_texture(0, 1, 10);
    Tracker other(objects_, kLimits);
    other.bind_texture(0, GL_TEXTURE_2D, 1);
    EXPECT_EQ(other.hash(), tracker_.hash());
    tracker_.set_of_texture(GL_TEXTURE_2D, 1, 12);
    EXPECT_EQ(other.hash(), tracker_.hash());
}

TEST_F(TrackerTest, BoundByItsNameATextureHasTheTargetThatItHad) {
    make_texture(3, 1, 10);
    const uint64_t bound = tracker_.hash();
    tracker_.bind_texture(3, 0, 0);
    EXPECT_NE(tracker_.hash(), bound);
    tracker_.bind_texture(3, 0, 1);
    EXPECT_EQ(tracker_.hash(), bound);
}

TEST_F(TrackerTest, ObjectsThatAreNotBoundDoNotCount) {
    const uint64_t before = tracker_.hash();
    tracker_.set_of(ObjectKind::texture, 9, 1, 1);
    tracker_.set_of(ObjectKind::sampler, 9, 1, 1);
    tracker_.set_of_vertex_array(9, 1, 1);
    tracker_.bind_framebuffer(GL_FRAMEBUFFER, 4);
    tracker_.set_of_framebuffer(GL_FRAMEBUFFER, 1, 1);
    tracker_.bind_framebuffer(GL_FRAMEBUFFER, 0);
    EXPECT_EQ(tracker_.hash(), before);
    tracker_.bind_vertex_array(9);
    EXPECT_NE(tracker_.hash(), before);
    tracker_.bind_vertex_array(0);
    tracker_.bind_sampler(0, 9);
    EXPECT_NE(tracker_.hash(), before);
    tracker_.bind_sampler(0, 0);
    tracker_.bind_framebuffer(GL_READ_FRAMEBUFFER, 4);
    EXPECT_EQ(tracker_.hash(), before) << "it is read from only";
    tracker_.bind_framebuffer(GL_DRAW_FRAMEBUFFER, 4);
    EXPECT_NE(tracker_.hash(), before);
}

TEST_F(TrackerTest, WhatIsDeletedIsForgotten) {
    const uint64_t before = tracker_.hash();
    make_texture(0, 1, 10);
    tracker_.bind_sampler(0, 2);
    tracker_.set_of(ObjectKind::sampler, 2, 1, 1);
    tracker_.bind_vertex_array(3);
    tracker_.set_of_bound_vertex_array(1, 1);
    tracker_.bind_framebuffer(GL_FRAMEBUFFER, 4);
    tracker_.set_of_framebuffer(GL_FRAMEBUFFER, 1, 1);
    tracker_.delete_object(ObjectKind::texture, 1);
    tracker_.delete_object(ObjectKind::sampler, 2);
    tracker_.delete_vertex_array(3);
    tracker_.delete_framebuffer(4);
    EXPECT_EQ(tracker_.hash(), before);
    // New objects of these names begin anew, and in other contexts, too.
    Tracker other(objects_, kLimits);
    other.bind_texture(0, GL_TEXTURE_2D, 1);
    other.bind_vertex_array(3);
    Tracker fresh(std::make_shared<Objects>(), kLimits);
    fresh.bind_texture(0, GL_TEXTURE_2D, 9);
    EXPECT_EQ(other.hash(), fresh.hash());
    tracker_.bind_texture(0, GL_TEXTURE_2D, 1);
    tracker_.bind_vertex_array(3);
    EXPECT_EQ(tracker_.hash(), fresh.hash());
    for (const GLuint none : {0u, 77u, 1u << 20}) {
        tracker_.delete_object(ObjectKind::texture, none);
        tracker_.delete_vertex_array(none);
        tracker_.delete_framebuffer(none);
    }
    EXPECT_EQ(tracker_.hash(), fresh.hash());
}

TEST_F(TrackerTest, NamesMayBeLarge) {
    const uint64_t before = tracker_.hash();
    for (const GLuint name : {1u << 14, 0xFFFFFFFFu}) {
        make_texture(0, name, 10);
        tracker_.bind_vertex_array(name);
        tracker_.set_of_bound_vertex_array(1, 1);
        tracker_.delete_object(ObjectKind::texture, name);
        tracker_.delete_vertex_array(name);
        EXPECT_EQ(tracker_.hash(), before);
    }
}

TEST_F(TrackerTest, PointersCountByTheirDistance) {
    const auto layout = [&](uintptr_t base) {
        for (const uintptr_t offset : {0u, 12u, 24u}) {
            (void)tracker_.step_to(reinterpret_cast<const void *>(base));
            const uint64_t step = tracker_.step_to(reinterpret_cast<const void *>(base + offset));
            tracker_.set_of_bound_vertex_array(mixed(5, offset), step);
            tracker_.end_steps();
        }
        return tracker_.hash();
    };
    EXPECT_EQ(layout(0), layout(4096));
}

TEST_F(TrackerTest, WindowsCountWhereNoFramebufferIsBound) {
    const uint64_t before = tracker_.hash();
    tracker_.draw_to_window(7);
    EXPECT_NE(tracker_.hash(), before);
    tracker_.bind_framebuffer(GL_FRAMEBUFFER, 1);
    const uint64_t bound = tracker_.hash();
    tracker_.draw_to_window(8);
    EXPECT_EQ(tracker_.hash(), bound);
}

TEST_F(TrackerTest, UnitsThatAreNotThereChangeNothing) {
    make_texture(1, 1, 10);
    const uint64_t before = tracker_.hash();
    tracker_.activate(32);
    tracker_.bind_texture(32, GL_TEXTURE_2D, 1);
    tracker_.bind_sampler(UINT32_MAX, 1);
    EXPECT_EQ(tracker_.hash(), before);
    EXPECT_EQ(tracker_.active_unit(), 1u);
    EXPECT_EQ(tracker_.units_from(30), 2u);
    EXPECT_EQ(tracker_.units_from(33), 0u);
}

TEST_F(TrackerTest, AProgramThatAnotherContextLinksAnewIsAnother) {
    tracker_.use_program(5);
    const uint64_t before = tracker_.hash_of_program();
    objects_->program(6).links.fetch_add(1);
    EXPECT_EQ(tracker_.hash_of_program(), before);
    objects_->program(5).links.fetch_add(1);
    EXPECT_NE(tracker_.hash_of_program(), before);
    tracker_.use_program(0);
    EXPECT_NE(tracker_.hash_of_program(), before);
}

}  // namespace
}  // namespace cairn::gl::record
