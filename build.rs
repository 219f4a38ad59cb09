//! Makes cargo rebuild if a migration changes, because `sqlx::migrate!` reads the folder at compile
//! time.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
