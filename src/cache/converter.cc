// SPDX-License-Identifier: MIT
#include "cache/converter.h"

#include <algorithm>

#include "cache/disk_cache.h"
#include "cache/program_key.h"
#include "os/environment.h"
#include "os/helper_process.h"

namespace cairn {
namespace {

// The numbers are part of every stored key: they are never reused for something else.
enum Tag : std::uint32_t { tag_id = 1, tag_version = 2, tag_option = 3, tag_input = 5 };

constexpr const char *kIdentifier = "conversions";
constexpr std::uint64_t kLayout = 1;  // raised when entries of an older one would be misread
constexpr const char *kDescriptionFileName = "converters";
constexpr std::size_t kDescriptionMax = 65536;
constexpr const char *kAbout =
    "Converted shaders (cairn_convert, `cairn convert`)\n"
    "The keys hold converter, version, options and input; docs/convert.md has the entries.\n";
constexpr const char *kSwitchedOff =
    "conversions are switched off; `cairn control --kind conversions --enable` switches them on";

std::array<std::byte, 32> key_of(const ConversionWorker::Request &request,
                                 std::string_view version) {
    ProgramKey key("conversion/2");
    key.add(tag_id, as_bytes(request.converter));
    key.add(tag_version, as_bytes(version));
    for (const std::string &option : request.options) key.add(tag_option, as_bytes(option));
    key.add(tag_input, request.input);
    return key.finish();
}

}  // namespace

Converter::Converter(const Options &options)
    : log_(options.log),
      worker_(canonical_path(options.program)),
      timeout_ms_(options.timeout_ms),
      process_bytes_(options.process_bytes),
      control_(options.root, Create::yes, Log()) {
    StoreOptions store;
    store.root = options.root;
    store.identifier = kIdentifier;
    store.version = kLayout;
    store.about = kAbout;
    store.limit_bytes = options.limit_bytes;
    store.log = options.log;
    auto cache = options.root.empty() ? Error::denied : DiskCache::open(store);
    if (!cache.ok()) {
        log_.write(Severity::warning, "conversions are not kept: %s", error_name(cache.error()));
        return;
    }
    cache_ = std::move(cache.value());
    if (auto directory = Directory::open(options.root + "/" + kIdentifier); directory.ok()) {
        directory_ = std::move(directory.value());
    }
    if (!is_on()) log_.write(Severity::warning, "%s", kSwitchedOff);
}

bool Converter::is_on() const {
    return cache_ != nullptr && (control_.disabled() & kind_conversions) == 0;
}

// The note of an earlier process, so that a hit starts none.
std::optional<WorkerDescription> Converter::noted_description() const {
    if (!is_on() || !directory_.valid()) return std::nullopt;
    const auto file = directory_.open_file(kDescriptionFileName, Access::read_only);
    if (!file.ok()) return std::nullopt;
    std::string text(kDescriptionMax, '\0');
    const auto size = file->read_at(0, {reinterpret_cast<std::byte *>(text.data()), text.size()});
    if (!size.ok()) return std::nullopt;
    text.resize(size.value());
    WorkerDescription description(std::move(text));
    if (!description.is_current(worker_.program())) return std::nullopt;
    return description;
}

Result<WorkerDescription> Converter::find_description(Deadline deadline) {
    const MutexLock lock(mutex_);
    if (description_ && description_->is_current(worker_.program())) return *description_;
    description_ = noted_description();
    if (description_) return *description_;
    auto described = worker_.describe(deadline.ns());
    if (!described.ok()) return error_of_worker(described.error());
    description_ = std::move(described.value());
    if (is_on() && directory_.valid()) {
        (void)directory_.replace_file(kDescriptionFileName, as_bytes(description_->text()));
    }
    return *description_;
}

Error Converter::error_of_worker(Error error) const {
    if (error == Error::busy || error == Error::no_memory) return error;
    const bool is_missing = error == Error::not_found || error == Error::denied;
    log_.write(Severity::error, "nothing is converted: %s %s", worker_.program().c_str(),
               is_missing ? "is not installed" : "does not work");
    return is_missing ? Error::unsupported : Error::io;
}

// Bytes that are no entry are a miss.
std::optional<Converter::Conversion> Converter::look_up(const Key &key) const {
    auto found = cache_->get(key);
    if (!found.ok() || !*found) return std::nullopt;
    const auto entry = decode_conversion((*found)->value());
    if (!entry) return std::nullopt;
    return Conversion{ConversionWorker::Answer::converted, Source::cached, std::move(*found),
                      *entry};
}

bool Converter::store(const Key &key, Bytes entry, std::uint64_t cost_ns) const {
    // It may have been switched off meanwhile.
    if (!is_on()) return false;
    PutOptions options;
    options.cost_us =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(cost_ns / 1000, UINT32_MAX));
    return cache_->put(key, entry, options).ok();
}

Result<Converter::Conversion> Converter::make(const ConversionWorker::Request &request,
                                              Deadline deadline) const {
    const std::uint64_t begin = monotonic_ns();
    auto answer = worker_.convert(request, deadline.ns());
    if (!answer.ok()) return error_of_worker(answer.error());
    const auto entry = decode_conversion(answer->entry->value());
    if (!entry) return Error::io;
    Conversion made = {answer->outcome, Source::made, std::move(answer->entry), *entry};
    if (made.outcome != ConversionWorker::Answer::converted) return made;
    // The version is that of the converter that ran: another one may have been installed since it
    // was described.
    const Key key = key_of(request, answer->version);
    if (store(key, made.blob->value(), monotonic_ns() - begin)) made.source = Source::kept;
    return made;
}

Result<Converter::Conversion> Converter::convert(const std::string &converter,
                                                 std::vector<std::string> options, Bytes input) {
    const Deadline deadline = Deadline::in_ms(timeout_ms_);
    const ConversionWorker::Request request = {converter, std::move(options), input, timeout_ms_,
                                               process_bytes_};
    if (is_on()) {
        TRY_ASSIGN(const WorkerDescription description, find_description(deadline));
        if (const auto version = description.version_of(request.converter)) {
            if (auto found = look_up(key_of(request, *version))) return std::move(*found);
        }
    }
    return make(request, deadline);
}

Result<std::string> Converter::describe() {
    TRY_ASSIGN(const WorkerDescription description, find_description(Deadline::in_ms(timeout_ms_)));
    return description.text();
}

}  // namespace cairn
