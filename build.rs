//! `sqlx::migrate!` reads the folder at compile time, and cargo must know.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
