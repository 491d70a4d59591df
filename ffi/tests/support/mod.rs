//! Builds the library, compiles programs against it, and runs them.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

/// A language as a compiler and its flags.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Language {
    C99,
    Cpp17,
}

/// How a program gets the library.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Link {
    Shared,
    Static,
}

/// A built library: a directory with what a linker and a loader look for.
pub(crate) struct Library(TempDir);

impl Library {
    /// The library as it is shipped.
    pub(crate) fn shipped() -> &'static Self {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        LIBRARY.get_or_init(|| Self::build(&target(), &[]))
    }

    /// The library that can be told to panic.
    pub(crate) fn panicking() -> &'static Self {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        // Elsewhere, so that it is never taken for the other one.
        LIBRARY.get_or_init(|| Self::build(&target().join("test-panic"), &["--features", "test-panic"]))
    }

    /// Cargo builds no cdylib for integration tests, so this does.
    fn build(target: &Path, arguments: &[&str]) -> Self {
        let (profile, directory) =
            if cfg!(debug_assertions) { ("dev", "debug") } else { ("release", "release") };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "tollgate-ffi", "--profile", profile, "--target-dir"]);
        cargo.arg(target).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
        assert!(cargo.status().expect("cargo").success(), "{cargo:?}");
        let links = tempfile::tempdir().expect("a directory");
        for (name, file) in [
            ("libtollgate.so.0", "libtollgate.so"),
            ("libtollgate.so", "libtollgate.so"),
            ("libtollgate.a", "libtollgate.a"),
        ] {
            symlink(target.join(directory).join(file), links.path().join(name)).expect("a link");
        }
        Self(links)
    }

    /// The file that a program loads.
    pub(crate) fn shared(&self) -> PathBuf {
        self.0.path().join("libtollgate.so.0")
    }

    /// Compiles `source` into a program.
    pub(crate) fn compile(&'static self, source: &Path, language: Language, link: Link) -> Program {
        let directory = tempfile::tempdir().expect("a directory");
        let program = directory.path().join(source.file_stem().expect("a name"));
        let (compiler, standard) = match language {
            Language::C99 => ("cc", "-std=c99"),
            Language::Cpp17 => ("c++", "-std=c++17"),
        };
        let mut command = Command::new(compiler);
        if let Language::Cpp17 = language {
            command.args(["-x", "c++"]);
        }
        command.args([
            standard,
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-g",
            "-D_POSIX_C_SOURCE=200809L",
        ]);
        command.arg(format!("-DEXPECTED_VERSION=\"{}\"", env!("CARGO_PKG_VERSION")));
        command.arg("-I").arg(root().join("../include")).arg(source).args(["-x", "none", "-o"]).arg(&program);
        match link {
            Link::Shared => command.arg("-L").arg(self.0.path()).args(["-ltollgate", "-lpthread"]),
            Link::Static => {
                command.arg(self.0.path().join("libtollgate.a")).args(["-lpthread", "-ldl", "-lm"])
            }
        };
        let output = command.output().expect("a C and a C++ compiler");
        assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
        Program { library: self, program, _directory: directory }
    }
}

/// A compiled program.
pub(crate) struct Program {
    library: &'static Library,
    program: PathBuf,
    _directory: TempDir,
}

impl Program {
    /// Runs it to its end.
    pub(crate) fn run(&self) {
        succeeds(&mut self.command(&[]));
    }

    /// Runs it under valgrind: no invalid access, nothing leaked.
    pub(crate) fn run_checked(&self) {
        succeeds(self.command(VALGRIND).env("UNDER_VALGRIND", "1"));
    }

    /// Starts it with `argument` and with pipes; under valgrind where `checked`.
    pub(crate) fn start(&self, checked: bool, argument: &str) -> Child {
        let mut command = self.command(if checked { VALGRIND } else { &[] });
        command.arg(argument).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process")
    }

    fn command(&self, wrapper: &[&str]) -> Command {
        let mut words: Vec<OsString> = wrapper.iter().map(OsString::from).collect();
        words.push(self.program.clone().into());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("LD_LIBRARY_PATH", self.library.0.path());
        command
    }
}

const VALGRIND: &[&str] = &[
    "valgrind",
    "--quiet",
    // Without it a thread that waits in a loop may starve the one that it waits for.
    "--fair-sched=yes",
    "--leak-check=full",
    "--errors-for-leak-kinds=definite,indirect,possible",
    "--error-exitcode=99",
];

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; is it installed?"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The directory of this package.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a target directory").to_owned()
}
