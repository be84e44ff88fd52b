# The front door: each target installs what it needs, then hands over to CMake, ctest and scripts/.
# Nothing but build/ is written, except by `make install` and `make compatibility`.

# Number of parallel jobs; of tests, which often wait, one more.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# How often `make torture` kills processes that use the cache.
KILLS ?= 200
# With it, `make torture` damages the files of so many caches instead.
DAMAGE ?=
# With LONG=1, `make test` tries each system call and each pair of settings where it takes a part else.
LONG ?=
# How long `make fuzz` runs each fuzz target.
SECONDS ?= 60
# Where `make install` puts things; DESTDIR is honoured too. More is said by CMake's options, such as
# CMAKE_OPTIONS=-DCMAKE_INSTALL_LIBDIR=lib64.
PREFIX ?= /usr/local
CMAKE_OPTIONS ?=
# Single steps of `make check`, such as STEPS="format layers".
STEPS ?=
# What `make compatibility` is told, such as OPTIONS="--headless glmark2"; scripts/compatibility --help has all of it.
OPTIONS ?=

export JOBS CMAKE_OPTIONS

.DEFAULT_GOAL := help
.PHONY: help run test check bench torture fuzz conformance test-i386 test-flatpak test-ceph test-container compatibility \
    install install-i386 packages test-packages clean

help: ## Explain these targets (the default)
	@echo 'Cairn: a GPU program cache. make TARGET, where TARGET is one of'
	@echo
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'Debian packages that are missing are installed first (with sudo where you are not root);'
	@echo 'INSTALL_PACKAGES=no leaves that to you. JOBS=$(JOBS) sets how many jobs run at once (of tests one more).'

run: ## Build, then run a real GL application on new machines, cold and warm, and show what was saved
	@scripts/install-packages demo
	@scripts/build ship demo
	@scripts/run-demo

test: ## Build and run all tests
	@scripts/install-packages convert demo tests large
	@scripts/build dev
	@$(if $(LONG),CAIRN_TEST_LONG=1) scripts/run-tests dev

check: ## Everything a change must pass: style, layers, both compilers, tests, sanitizers, install
	@scripts/install-packages convert demo tests bench large
	@scripts/check $(STEPS)

bench: ## Compare the store with its rivals, and links with the driver's; writes build/bench/*.json
	@scripts/install-packages demo tests bench
	@scripts/build release bench
	@bench/run
	@bench/link/run --quick

torture: ## Kill processes that share a cache, KILLS=200 times, or damage DAMAGE=N caches, and check every promise
	@scripts/install-packages tests
	@scripts/build release $(if $(DAMAGE),cairn_damage_torture,cairn_torture broker_torture)
	@scripts/run-torture $(if $(DAMAGE),--damage $(DAMAGE),$(KILLS))

fuzz: ## Run every fuzz target for SECONDS=60
	@scripts/install-packages tests
	@scripts/build fuzz fuzzers
	@scripts/run-fuzz $(SECONDS)

conformance: ## Run the conformance suites, one line per row
	@scripts/install-packages convert demo tests large
	@scripts/build dev
	@scripts/run-conformance

test-i386: ## Build for 32-bit programs, in a root of their own, and test them beside 64-bit ones
	@scripts/install-packages i386 || true # the script says what it lacks, and that it is skipped
	@scripts/i386 test

test-container: ## Build the container image of examples/container from build/packages, and start it
	@scripts/install-packages tests
	@scripts/install-packages container || true
	@[ -d build/packages ] || $(MAKE) --no-print-directory packages
	@scripts/build dev cairn_command
	@scripts/test-container build/dev build/packages || test $$? = 77

compatibility: ## Run the installed ones of 49 real programs cold and warm; writes docs/compatibility.md
	@scripts/install-packages demo
	@scripts/build ship cairn_command EGL_cairn EGL_cairn_last GLX_cairn cairn_warm_player
	@scripts/compatibility $(OPTIONS)

test-flatpak: ## Run a GL program in Debian's Flatpak with the override that docs/cli.md describes
	@scripts/install-packages demo tests flatpak
	@scripts/build dev cairn_command EGL_cairn EGL_cairn_last GLX_cairn egl_client_linked glx_client_linked
	@scripts/test-flatpak build/dev || test $$? = 77

test-ceph: ## Run the tests of S3 with Debian's Ceph, which takes 0.3 GB
	@scripts/install-packages demo tests
	@scripts/install-packages ceph || true
	@scripts/build dev remotes_contract_test remotes_servers_test remotes_faults_test fleet_engines_test \
	    fleet_ceph_test
	@scripts/test-ceph build/dev || test $$? = 77

install: ## Install below PREFIX=/usr/local (DESTDIR and CMAKE_OPTIONS are honoured)
	@scripts/install-packages convert
	@INSTALL_PREFIX='$(PREFIX)' scripts/build ship ship
	@DESTDIR="$(DESTDIR)" cmake --install build/ship --prefix "$(PREFIX)"

install-i386: ## Install the libraries for 32-bit programs, after `make install`, below the same PREFIX
	@scripts/install-packages i386
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/i386 install

packages: ## Build the Debian packages in build/packages, and judge them by lintian
	@scripts/install-packages convert packages
	@scripts/packages

test-packages: ## Install, use, upgrade and purge the packages in a root of its own; OPTIONS="--reproducible --fresh-root"
	@scripts/install-packages convert packages
	@scripts/test-packages $(OPTIONS) || test $$? = 77

clean: ## Remove build/
	@rm -rf build
