# A thin layer over scripts/ and CMake. `make help` lists the targets.
# GGML_BACKENDS="vulkan cuda" builds with these of ggml's backends, in a folder of its own;
# PORTABLE=1 for any x86-64 with AVX2 (docs/backends.md).
comma   := ,
choices := $(addprefix -,$(subst $(comma), ,$(GGML_BACKENDS)) $(if $(PORTABLE),portable))
variant := $(subst $(subst ,, ),,$(choices))
BUILD  ?= build$(variant)
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
export JOBS GGML_BACKENDS PORTABLE
CONFIGURE = cmake -S . -G Ninja -DQKSCOPE_DEPS=.deps$(variant) \
            $(if $(PORTABLE),-DQKSCOPE_MARCH=x86-64-v3) $(CMAKE_ARGS)

.DEFAULT_GOAL := all
.PHONY: all demo setup asan test test-interop fuzz torture kill-loop tsan valgrind check format bench install \
        deb test-deb clean distclean help

all: ## set up what is missing, build build/qkscope
	@scripts/setup build
	@$(CONFIGURE) -B $(BUILD) >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)

demo: ## run both demo studies, say where the pages are
	@scripts/setup build
	@$(CONFIGURE) -B $(BUILD) >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target qkscope
	@scripts/demo

setup: ## install everything that building and testing need
	@scripts/setup all

asan: ## build with AddressSanitizer and UBSan in build-asan/
	@scripts/setup build
	@$(CONFIGURE) -B build-asan -DQKSCOPE_SANITIZE=address,undefined >/dev/null
	@cmake --build build-asan -j $(JOBS)

test: ## all tests, plain and with sanitizers, and all checks; the last line is the count
	@scripts/test

test-interop: all ## load what qkscope writes in pandas, datasets, polars, DuckDB, scikit-learn (from PyPI)
	@scripts/test-interop

fuzz: all ## fuzz every parser for MINUTES (default 60) altogether; see docs/reliability.md
	@scripts/fuzz --minutes $(or $(MINUTES),60)

torture: asan ## let every allocation, write and read fail in turn
	@python3 tests/torture/torture.py build-asan/tests/qkscope-torture build-asan/tests/torture-all --jobs $(JOBS)

kill-loop: all ## kill a study (STUDY) at N (default 200) random moments, alone and under mpirun
	@python3 tests/torture/kill_loop.py build/qkscope build/tests/kill-loop $(or $(N),200) $(if $(STUDY),--study $(STUDY))

tsan: ## the tests of the rooms under ThreadSanitizer
	@scripts/setup all
	@scripts/sanitize thread

valgrind: ## the tests of the rooms under valgrind
	@scripts/setup all
	@scripts/sanitize valgrind

check: ## layout and static analysis
	@scripts/setup all
	@$(CONFIGURE) -B build >/dev/null
	@scripts/check

format: ## lay out the sources as .clang-format says
	@scripts/check --fix format

bench: all ## measure, and compare with the reference implementations
	@bench/run

install: all ## install below PREFIX (and DESTDIR)
	@cmake --install $(BUILD) --prefix $(PREFIX)

deb: ## build-portable/qkscope_VERSION_ARCHITECTURE.deb, for Debian 12
	@PORTABLE=1 scripts/setup deb
	@$(MAKE) --no-print-directory PORTABLE=1 \
	    CMAKE_ARGS="-DCMAKE_INSTALL_PREFIX=/usr -DQKSCOPE_TESTS=OFF $(CMAKE_ARGS)"
	@cd build-portable && cpack -G DEB

test-deb: ## install that package in a bare Debian 12 (debootstrap; needs root) and try it
	@scripts/test-deb

clean: ## remove what the builds made
	rm -rf build build-*

distclean: clean ## also remove .deps
	rm -rf .deps .deps-* .deps.*

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
