// SPDX-License-Identifier: MIT
#include "change_command.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "caches.h"
#include "command_line.h"
#include "failure.h"
#include "output.h"

namespace cairn::cli {
namespace {

int change_all(const ChangeCommand &kind, const std::string &root) {
    const std::vector<std::string> identifiers = list_caches(root);
    if (identifiers.empty()) {
        print_line(fmt::format("Nothing to {}: no caches in {}", kind.verb, root));
    }
    int exit_code = kExitOk;
    for (const std::string &identifier : identifiers) {
        try {
            kind.change(root, identifier);
        } catch (const Failure &failure) {
            complain(failure.what());
            exit_code = kExitFailure;
        }
    }
    return exit_code;
}

}  // namespace

void add_change_command(CLI::App &app, const ChangeCommand &kind, int &exit_code) {
    struct Options {
        std::string dir;
        std::string cache;
        bool all = false;
    };
    CLI::App *command = app.add_subcommand(kind.verb, kind.description);
    auto options = std::make_shared<Options>();
    command->footer(kind.footer);
    CLI::Option *name =
        command
            ->add_option("CACHE", options->cache, "Identifier of a cache, as `cairn ls` shows it")
            ->type_name("");
    command->add_flag("--all", options->all, "Every cache in the directory")->excludes(name);
    add_dir_option(*command, options->dir);
    command->callback([options, kind, &exit_code] {
        if (options->cache.empty() && !options->all) {
            throw Failure(kExitUsage,
                          fmt::format("name the cache to {} (`cairn ls` lists them), or use --all",
                                      kind.verb));
        }
        const std::string root = resolve_root(options->dir);
        require_usable_root(root);
        if (options->all) {
            exit_code = change_all(kind, root);
        } else {
            kind.change(root, options->cache);
        }
    });
}

}  // namespace cairn::cli
