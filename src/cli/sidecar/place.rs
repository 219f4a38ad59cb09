//! Where a game server is, as the daemon may know it: a loopback address is that of one machine, and many machines have it.

use std::{fs, net::SocketAddr};

use sha2::{Digest, Sha256};

use crate::model::to_hex;

/// The address of the console. A loopback address gets a mark of this machine after an `@`, so that the daemon can tell two
/// machines behind one address from each other.
pub(super) fn source(console: SocketAddr) -> String {
    let ip = console.ip().to_canonical();
    match ip.is_loopback() || ip.is_unspecified() {
        true => format!("{console}@{}", mark(&machine())),
        false => console.to_string(),
    }
}

/// What tells this machine from others, and on Linux also a container with a network of its own from its machine.
fn machine() -> String {
    let file = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let network = fs::read_link("/proc/self/ns/net").unwrap_or_default();
    let boot = file("/proc/sys/kernel/random/boot_id");
    match boot.trim() {
        // Other systems than Linux.
        "" => {
            let named = ["HOSTNAME", "COMPUTERNAME"].into_iter();
            let name = named.filter_map(|name| std::env::var(name).ok()).next();
            [
                name.unwrap_or_default(),
                file("/etc/hostid"),
                file("/etc/hostname"),
            ]
            .join(" ")
        }
        boot => format!("{boot} {}", network.display()),
    }
}

/// Sixteen hexadecimal digits of a hash, so that the daemon learns nothing about the machine.
fn mark(machine: &str) -> String {
    let hash = Sha256::digest(format!("evenkeel machine {machine}"));
    to_hex(&hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_loopback_address_has_a_mark() {
        let of = |text: &str| source(text.parse().unwrap());
        assert_eq!(of("192.0.2.7:27960"), "192.0.2.7:27960");
        for local in ["127.0.0.1:27960", "[::1]:27960", "0.0.0.0:27960"] {
            let marked = of(local);
            let mark = marked.strip_prefix(&format!("{local}@")).unwrap();
            assert!(mark.len() == 16 && mark.bytes().all(|b| b.is_ascii_hexdigit()));
            assert_eq!(
                of(local),
                marked,
                "the same for every process of the machine"
            );
        }
        assert_ne!(mark("one"), mark("two"));
    }
}
