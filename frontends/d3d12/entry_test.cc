// SPDX-License-Identifier: MIT
#include "entry.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace cairn::d3d12 {
namespace {

Bytes of(const std::string &text) {
    return as_bytes(text);
}

std::string text_of(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// The blob that a cache in memory gives for a value.
cairn_blob *blob_of(const std::string &value) {
    cairn_options options = {};
    options.size = sizeof options;
    options.identifier = "test";
    options.mode = CAIRN_MODE_MEMORY;
    cairn_cache *cache = nullptr;
    cairn_blob *blob = nullptr;
    EXPECT_EQ(cairn_open(&options, &cache), CAIRN_OK);
    EXPECT_EQ(cairn_put(cache, "k", 1, value.data(), value.size(), nullptr), CAIRN_OK);
    EXPECT_EQ(cairn_get(cache, "k", 1, &blob), CAIRN_OK);
    cairn_close(cache);
    return blob;
}

TEST(Entry, TheDocumentsExampleIsWhatIsStored) {
    const std::string record("D12\x01\x03\0\0\0teapot", 14);
    EXPECT_EQ(text_of(Entry::copy(of("tea"), of("pot"))->record()), record);
    const EntryRef entry = Entry::adopt(blob_of(record));
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(text_of(entry->key()), "tea");
    EXPECT_EQ(text_of(entry->value()), "pot");
    EXPECT_TRUE(entry->has_key(of("tea")));
    EXPECT_FALSE(entry->has_key(of("te")));
    EXPECT_FALSE(entry->has_key(of("teapot")));
    EXPECT_FALSE(entry->has_key(of("toe")));
}

// The same bytes, as docs/formats/d3d12.md shows them.
TEST(Entry, TheDocumentShowsTheseBytes) {
    std::ifstream document(CAIRN_FORMAT_DOCUMENT);
    const std::string text((std::istreambuf_iterator<char>(document)), {});
    EXPECT_NE(text.find("0000  44 31 32 01 03 00 00 00 74 65 61 70 6f 74\n"), std::string::npos);
}

TEST(Entry, WhatIsNoEntryIsRefused) {
    const std::string whole("D12\x01\x03\0\0\0teapot", 14);
    for (size_t size = 0; size < 12; ++size) {
        EXPECT_EQ(Entry::adopt(blob_of(whole.substr(0, size))), nullptr) << size;
    }
    EXPECT_NE(Entry::adopt(blob_of(whole.substr(0, 12))), nullptr);
    for (size_t at = 0; at < 8; ++at) {
        for (const char other : {'\0', '\x7f', '\xff'}) {
            std::string damaged = whole;
            damaged[at] = other;
            if (damaged != whole) {
                EXPECT_EQ(Entry::adopt(blob_of(damaged)), nullptr) << at;
            }
        }
    }
}

}  // namespace
}  // namespace cairn::d3d12
