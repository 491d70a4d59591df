//! Linker flags of the shared library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // A class loader's end closes the library, but its maintenance threads may still be running this
        // code.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        // The number grows when a program built against an older header would no longer work.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtollgate.so.0");
    }
}
