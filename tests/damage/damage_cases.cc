// SPDX-License-Identifier: MIT
#include "damage/damage_cases.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <filesystem>

#include "damage/damage_actors.h"
#include "support/files.h"
#include "support/process.h"

namespace cairn_test {
namespace {

constexpr unsigned kCheckSeconds = 60;  // of which 10 are patience
constexpr unsigned kKilledSeconds = 30;
constexpr unsigned kLiveSeconds = 30;
constexpr std::uint64_t kKilledAfterUs = 30000;
constexpr uid_t kNobody = 65534;

std::string folder_for_cases(const std::string &folder) {
    constexpr const char *kMemory = "/dev/shm";
    return folder.empty() && access(kMemory, W_OK) == 0 ? kMemory : folder;
}

void pause_us(std::uint64_t microseconds) {
    const timespec time = {0, static_cast<long>(microseconds * 1000)};
    nanosleep(&time, nullptr);
}

bool is_of_programs(FileKind file) {
    return file == FileKind::order || file == FileKind::history || file == FileKind::crashes ||
           file == FileKind::generation;
}
bool is_of_plain(FileKind file) {
    return file == FileKind::about || file == FileKind::layer;
}

FileKind draw_file(Random &random, SampleKind sample) {
    const std::uint64_t choice = random.below(10);
    if (choice < 3) return FileKind::index;
    if (choice < 6) return FileKind::segment;
    for (;;) {
        const auto file =
            static_cast<FileKind>(2 + random.below(static_cast<unsigned>(FileKind::count) - 2));
        if (sample == SampleKind::plain ? !is_of_programs(file) : !is_of_plain(file)) return file;
    }
}

unsigned draw_kills(Random &random) {
    const std::uint64_t choice = random.below(10);
    if (choice < 4) return 0;
    return choice < 7 ? 1 : choice < 9 ? 2 : 3;
}

// Becomes the user that permissions count for. PR_SET_PDEATHSIG is lost by that.
bool become_nobody() {
    if (geteuid() != 0) return true;
    if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) return false;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return true;
}

void give_to_nobody(const std::string &directory) {
    if (geteuid() != 0) return;
    [[maybe_unused]] int result = lchown(directory.c_str(), kNobody, kNobody);
    // A process that was killed may still be deleting a file.
    std::error_code error;
    const std::filesystem::recursive_directory_iterator end;
    for (std::filesystem::recursive_directory_iterator entry(directory, error);
         !error && entry != end; entry.increment(error))
        result = lchown(entry->path().c_str(), kNobody, kNobody);
}

}  // namespace

void CaseFindings::say(const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const auto size =
        std::min<unsigned>(static_cast<unsigned>(std::max(length, 0)), sizeof line - 1);
    const unsigned at = text_size.fetch_add(size);
    if (at + size < sizeof text) std::copy_n(line, size, text + at);
}

bool CasePlan::unprivileged() const {
    return std::ranges::any_of(damages,
                               [](const DamageStep &step) { return step.kind->is_permission; });
}

DamageTorture::DamageTorture(const std::string &samples, const std::string &folder)
    : folder_(folder_for_cases(folder)) {
    for (const SampleKind kind : {SampleKind::plain, SampleKind::program})
        samples_[static_cast<unsigned>(kind)] = std::make_unique<TortureSample>(kind, samples);
    chmod(folder_.path().c_str(), 0711);
    can_be_another_user_ =
        run_in_child(10, [&] {
            return become_nobody() && access(folder_.path().c_str(), X_OK) == 0 ? 0 : 1;
        }).empty();
}

std::string DamageTorture::pick_file(SampleKind kind, FileKind file, std::uint64_t number) const {
    std::vector<std::string> names;
    for (const std::string &name : sample(kind).names()) {
        if (file_kind_of(name) == file) names.push_back(name);
    }
    return names.empty() ? "" : names[number % names.size()];
}

CasePlan DamageTorture::plan(std::uint64_t seed, const CaseLimits &limits) const {
    Random random(seed);
    CasePlan plan;
    plan.seed = seed;
    plan.mode = limits.mode.value_or(random.one_in(4) ? CaseMode::live : CaseMode::at_rest);
    plan.sample = random.one_in(4) ? SampleKind::program : SampleKind::plain;
    if (limits.file && is_of_programs(*limits.file)) plan.sample = SampleKind::program;
    if (limits.file && is_of_plain(*limits.file)) plan.sample = SampleKind::plain;
    plan.is_tight = random.one_in(8);
    plan.kills = draw_kills(random);
    const std::uint64_t drawn = random.one_in(4) ? 4 + random.below(17) : 1 + random.below(3);
    const std::uint64_t count = std::min(drawn, limits.damages_max);
    const Use use = plan.mode == CaseMode::live ? Use::mapped : Use::at_rest;
    while (plan.damages.size() < count) {
        const FileKind file = limits.file.value_or(draw_file(random, plan.sample));
        const DamageKind *kind = limits.only != nullptr
                                     ? limits.only
                                     : &damage_kinds()[random.below(damage_kinds().size())];
        if (kind->is_permission && !can_be_another_user_) kind = &damage_kinds()[0];
        const std::string name = pick_file(plan.sample, file, random.next());
        if (can_have(*kind, file, use)) plan.damages.push_back({kind, name});
        if (limits.only != nullptr && limits.file && plan.damages.empty()) return plan;
    }
    return plan;
}

CasePlan DamageTorture::plan_pair(std::uint64_t seed, const DamageKind &kind, FileKind file,
                                  CaseMode mode) const {
    CasePlan plan;
    plan.seed = seed;
    plan.mode = mode;
    plan.sample = is_of_programs(file) ? SampleKind::program : SampleKind::plain;
    plan.damages = {{&kind, pick_file(plan.sample, file, seed)}};
    return plan;
}

namespace {

// A case that is being run.
class Run {
  public:
    Run(const CasePlan &plan, const TortureSample &sample, CaseArena &arena,
        const std::string &root)
        : plan_(plan), scene_{plan, sample, arena, root, {}}, random_(mix(plan.seed, 7)) {
        damage_.directory = root + "/" + sample.identifier();
        damage_.other = sample.other();
        damage_.older = sample.older();
    }

    void prepare();
    void damage_at_rest();
    void damage_under_use();
    void kill_some();
    void check();
    CaseResult result();

  private:
    template <typename Body>
    Child start(unsigned seconds, Body body);
    void damage_one(const DamageStep &step);
    bool all_get_on(std::vector<Child> &children, std::uint64_t count);
    void judge_end(const char *who, int status);

    const CasePlan &plan_;
    CaseScene scene_;
    Random random_;
    DamageScene damage_;
    std::uint64_t hung_ = 0;
};

void Run::prepare() {
    new (&scene_.arena.findings) CaseFindings;
    scene_.arena.stop = false;
    for (auto &operations : scene_.arena.operations) operations = 0;
    scene_.arena.ledger.reset(scene_.sample);
    remove_tree(scene_.root);
    mkdir(scene_.root.c_str(), 0700);
    scene_.sample.copy_to(scene_.root);
    if (!plan_.unprivileged()) return;
    give_to_nobody(scene_.root);
    give_to_nobody(damage_.directory);
}

template <typename Body>
Child Run::start(unsigned seconds, Body body) {
    return Child([this, seconds, body] {
        if (plan_.unprivileged() && !become_nobody()) return 99;
        alarm(seconds);
        return body();
    });
}

void Run::damage_one(const DamageStep &step) {
    if (plan_.mode == CaseMode::live) note_mapped(damage_);
    const Damaged one = damage_file(*step.kind, damage_, step.file, random_);
    scene_.damaged.what += one.what;
    scene_.damaged.ranges.insert(scene_.damaged.ranges.end(), one.ranges.begin(), one.ranges.end());
    // What was made anew belongs to its maker: the user of the case.
    if (plan_.unprivileged()) give_to_nobody(damage_.directory);
}

void Run::damage_at_rest() {
    for (const DamageStep &step : plan_.damages) damage_one(step);
}

// Waits until every process has gone on by `count` operations. False: one hangs or has died.
bool Run::all_get_on(std::vector<Child> &children, std::uint64_t count) {
    const time_t deadline = time(nullptr) + kLiveSeconds;
    for (std::size_t i = 0; i < children.size(); ++i) {
        const std::uint64_t goal = scene_.arena.operations[i] + count;
        while (scene_.arena.operations[i] < goal) {
            if (children[i].ended()) return false;
            if (time(nullptr) > deadline) {
                ++hung_;
                scene_.arena.findings.say("hung: a process beside the damage\n");
                return false;
            }
            pause_us(100);
        }
    }
    return true;
}

void Run::damage_under_use() {
    damage_.use = Use::mapped;
    std::vector<Child> children;
    for (unsigned i = 0; i <= kLiveWriters; ++i)
        children.push_back(
            start(kLiveSeconds * 2, [this, i] { return live_beside_damage(scene_, i); }));
    bool get_on = all_get_on(children, 10);
    for (const DamageStep &step : plan_.damages) {
        damage_one(step);
        pause_us(random_.below(1500));
    }
    get_on = get_on && all_get_on(children, 20);
    scene_.arena.stop = true;
    for (Child &child : children) {
        if (!get_on && !child.ended()) pause_us(200000);
        judge_end("beside the damage", child.wait());
    }
}

void Run::kill_some() {
    for (unsigned i = 0; i < plan_.kills; ++i) {
        const std::uint64_t seed = mix(plan_.seed, 50 + i);
        Child child =
            start(kKilledSeconds, [this, seed] { return use_until_killed(scene_, seed); });
        pause_us(random_.below(kKilledAfterUs));
        child.signal(SIGKILL);
        const int status = child.wait();
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) judge_end("to be killed", status);
    }
}

void Run::check() {
    const std::uint64_t seed = mix(plan_.seed, 60);
    Child child = start(kCheckSeconds, [this, seed] { return check_after_damage(scene_, seed); });
    judge_end("that checks", child.wait());
}

void Run::judge_end(const char *who, int status) {
    const std::string what = describe_status(status);
    if (what.empty()) return;
    scene_.arena.findings.say("a process %s: %s\n", who, what.c_str());
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        ++hung_;
    } else {
        ++scene_.arena.findings.wrong;
    }
}

CaseResult Run::result() {
    const CaseFindings &findings = scene_.arena.findings;
    CaseResult result;
    result.wrong = findings.wrong;
    result.lost = findings.lost;
    result.over_limit = findings.over_limit;
    result.hung = hung_;
    result.stale = findings.stale;
    result.hidden = findings.hidden != 0 ? 1 : 0;
    result.text = scene_.damaged.what + "\n";
    result.text.append(findings.text,
                       std::min<std::size_t>(findings.text_size, sizeof findings.text));
    return result;
}

}  // namespace

CaseResult DamageTorture::run(const CasePlan &plan) {
    const std::string root = folder_ / "case";
    Run run(plan, sample(plan.sample), *arena_, root);
    run.prepare();
    if (plan.mode == CaseMode::live) {
        run.damage_under_use();
    } else {
        run.damage_at_rest();
    }
    run.kill_some();
    run.check();
    return run.result();
}

}  // namespace cairn_test
