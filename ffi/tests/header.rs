//! `include/tollgate.h` is what the sources say.

use std::path::Path;

#[test]
fn the_committed_header_is_what_the_sources_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("a configuration");
    let mut generated = Vec::new();
    cbindgen::Builder::new()
        .with_crate(root)
        .with_config(config)
        .generate()
        .expect("sources that cbindgen understands")
        .write(&mut generated);
    let generated = String::from_utf8(generated).expect("UTF-8");

    let header = root.join("../include/tollgate.h");
    if std::env::var_os("TOLLGATE_UPDATE_HEADER").is_some_and(|update| update == "1") {
        std::fs::write(&header, &generated).expect("a writable header");
    }
    let committed = std::fs::read_to_string(&header).unwrap_or_default();
    let line =
        committed.lines().zip(generated.lines()).position(|(committed, generated)| committed != generated);
    assert!(
        committed == generated,
        "include/tollgate.h is not what ffi/src says (line {:?}): run make header and commit it",
        line.map(|line| line + 1)
    );
}
