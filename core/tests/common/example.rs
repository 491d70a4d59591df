//! The examples as programs.

#![allow(unreachable_pub, reason = "part of several test binaries")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An example, as cargo has just built it beside this test, without settings of the caller's.
pub fn command(name: &str) -> Command {
    let test = std::env::current_exe().expect("this test's own path");
    let profile = test.parent().and_then(Path::parent).expect("target/<profile>/deps/<test>");
    let path: PathBuf = profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        path.is_file(),
        "{} is missing: `cargo test --test …` builds no examples, run `cargo build -p tollgate --all-features --examples`",
        path.display()
    );
    let mut command = Command::new(path);
    command.env_remove("REDIS_URL").env_remove("PORT").stdin(Stdio::null()).stderr(Stdio::inherit());
    command
}
