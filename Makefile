# `make` lists what can be made. Needs Rust, a JDK, Maven and Node; what else is missing is installed (as root or through sudo).

.DEFAULT_GOAL := help
.NOTPARALLEL:

MVN := mvn -B -ntp -f java-binding/pom.xml
LIBRARY := target/release/libtollgate.so
DEMO := java-binding/demo/target/demo/.made
DEMO_BOOT4 := java-binding/demo-boot4/target/demo-boot4.jar
EASYUI := java-binding/demo/node_modules/.made
BROWSER := java-binding/demo/src/test/browser/node_modules/.made
DEMO_SOURCES := $(shell find java-binding -name target -prune -o -name node_modules -prune -o \
	\( -path '*/src/main/*' -o -name pom.xml \) -type f -print)

.PHONY: help
help: ## Lists what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: export PORT ?= 8080
demo: export REDIS_URL ?=
demo: demo-built ## Starts the demo: PORT=8080, REDIS_URL=redis://… (default: counters in memory); Ctrl-C stops it
	@exec java-binding/demo/start.sh

.PHONY: demo-boot4
demo-boot4: export PORT ?= 8080
demo-boot4: export REDIS_URL ?=
demo-boot4: setup-demo library $(DEMO_BOOT4) ## Starts the demo on Spring Boot 4, with the same variables
	@exec $${JAVA_HOME:+$$JAVA_HOME/bin/}java -jar $(DEMO_BOOT4)

.PHONY: demo-built
demo-built: setup-demo library $(DEMO) $(EASYUI)

.PHONY: test
test: test-rust model test-java test-demo ## Runs all tests: Rust, C, Java, and the demo in a browser

.PHONY: test-rust
test-rust: setup-test ## Runs the tests of the core and the C interface, against real Redis servers
	.ci/servers
	TOLLGATE_REQUIRE_SERVERS=1 cargo test --workspace --features tollgate/tower
	cargo test -p tollgate --no-default-features

.PHONY: model
model: setup-test ## Checks the hand-overs between callers under a model checker
	RUSTFLAGS='--cfg shuttle' cargo test -p tollgate --lib --target-dir target/model model::

.PHONY: soak
soak: export TOLLGATE_SOAK_MINUTES ?= $(or $(MINUTES),1)
soak: setup-test ## Runs load under kills, pauses, failovers and retunes: MINUTES=1; ends with a ledger that has to balance
	cargo test --release -p tollgate --test soak -- --nocapture

.PHONY: test-java
test-java: setup-test library ## Runs the Java tests on Boot 2.1.18, 2.7.18, 3.5 and 4.0, on this JDK and on one of 21 or later
	.ci/test-java

.PHONY: test-demo
test-demo: setup-test demo-built $(DEMO_BOOT4) $(BROWSER) ## Runs the demos, a browser and a Redis server, and plays the operator
	.ci/test-demo

.PHONY: lint
lint: setup-lint ## Checks format, lints, documentation, the header and the house rules
	cargo fmt --all --check
	cargo clippy --workspace --features tollgate/tower --all-targets -- -D warnings
	cargo clippy -p tollgate --no-default-features --all-targets -- -D warnings
	cargo clippy -p tollgate --no-default-features --features tower --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --features tollgate/tower --no-deps --quiet
	cargo test --quiet -p tollgate-ffi --test header
	.ci/house-rules
	@if cargo deny --version >/dev/null 2>&1; then cargo deny check licenses bans sources; \
	else echo 'lint: cargo deny skipped, it is not installed (cargo install cargo-deny)'; fi

.PHONY: header
header: ## Writes include/tollgate.h anew from ffi/src
	TOLLGATE_UPDATE_HEADER=1 cargo test --quiet -p tollgate-ffi --test header

.PHONY: bench
bench: ## Runs the benchmarks
	cargo bench -p tollgate-benches

.PHONY: setup-demo setup-lint setup-test
setup-demo setup-lint setup-test: setup-%:
	@.ci/setup $*

# Cargo knows what is stale, and leaves the file alone when nothing is.
.PHONY: library
library:
	@cargo build --release -p tollgate-ffi

$(LIBRARY): library ;

$(DEMO): $(LIBRARY) $(DEMO_SOURCES)
	$(MVN) -q -pl demo -am package -Dmaven.test.skip=true
	@touch $@

$(DEMO_BOOT4): $(LIBRARY) $(DEMO_SOURCES)
	$(MVN) -q -pl demo-boot4 -am package -Dmaven.test.skip=true
	@touch $@

$(EASYUI) $(BROWSER): %/node_modules/.made: %/package-lock.json
	npm ci --prefix $* --no-audit --no-fund --silent
	@touch $@
