// The adapter for Skia, called through Skia's own class.
// SPDX-License-Identifier: MIT
#include <adapters/skia_persistent_cache.h>

#include <cstring>
#include <string>

#include "check.h"

// Skia's library is not here. These stand for the few functions of it that its headers leave open.
SkData::SkData(SkSpan<std::byte> span, ReleaseProc release, void *context)
    : fReleaseProc(release), fReleaseProcContext(context), fSpan(span) {}
SkData::~SkData() {
    if (fReleaseProc) fReleaseProc(fSpan.data(), fReleaseProcContext);
}
void SkData::operator delete(void *data) {
    ::operator delete(data);
}
void SkData::NoopReleaseProc(const void *, void *) {}
sk_sp<SkData> SkData::MakeWithProc(const void *data, size_t size, ReleaseProc release,
                                   void *context) {
    auto *bytes = static_cast<std::byte *>(const_cast<void *>(data));
    return sk_sp<SkData>(new SkData({bytes, size}, release, context));
}
void SkString::Rec::unref() const {}
SkString::SkString() {}
SkString::~SkString() {}

int main() {
    const auto data = [](const std::string &text) {
        return SkData::MakeWithoutCopy(text.data(), text.size());
    };
    const std::string key = "key", value(100000, 'v'), other = "other";
    sk_sp<SkData> kept;
    {
        cairn::Cache cache = open_cache();
        cairn_adapters::SkiaPersistentCache adapter(cache.handle());
        GrContextOptions options;
        options.fPersistentCache = &adapter;
        GrContextOptions::PersistentCache &programs = *options.fPersistentCache;

        CHECK(programs.load(*data(key)) == nullptr);
        programs.store(*data(key), *data(value), SkString());
        kept = programs.load(*data(key));
        CHECK(kept && kept->size() == value.size());
        CHECK(std::memcmp(kept->data(), value.data(), value.size()) == 0);
        CHECK(programs.load(*data(other)) == nullptr);

        programs.store(*data(other), *data(""), SkString());
        CHECK(programs.load(*data(other)) == nullptr);
        programs.store(*data(""), *data(value), SkString());
        CHECK(programs.load(*data("")) == nullptr);

        programs.store(*data(key), *data(other), SkString());
        CHECK(programs.load(*data(key))->size() == other.size());

        cairn_adapters::SkiaPersistentCache none(nullptr);
        none.store(*data(key), *data(value), SkString());
        CHECK(none.load(*data(key)) == nullptr);
    }
    // What Skia has is good without the cache, and goes with the last reference.
    CHECK(std::memcmp(kept->data(), value.data(), value.size()) == 0);
}
