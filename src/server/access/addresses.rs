//! How many connections each address has, and how much it may still send.

use core::net::{IpAddr, Ipv6Addr};
use std::{collections::BTreeMap, sync::Arc};

use super::Allowance;

/// The host, or the network of one subscriber, that an address belongs to: an IPv4 address, or the first 64
/// bits of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AddressKey(IpAddr);

impl AddressKey {
    /// The key of this address.
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> 64 << 64;
                IpAddr::V6(Ipv6Addr::from_bits(network))
            }
            address => address,
        })
    }
}

/// The addresses that are connected, and those that were connected a short time ago.
#[derive(Debug)]
pub struct AddressTable {
    entries: BTreeMap<AddressKey, Entry>,
    most: usize,
}

#[derive(Debug, Default)]
struct Entry {
    allowance: Arc<Allowance>,
    connections: u32,
}

impl AddressTable {
    /// An empty table, which keeps at most `most` addresses that are not connected.
    pub fn new(most: usize) -> Self {
        Self {
            entries: BTreeMap::new(),
            most,
        }
    }

    /// Counts a new connection from this address. `None` if it already has `most_connections`; 0 is no limit.
    pub fn enter(
        &mut self,
        address: AddressKey,
        most_connections: u32,
        now: u64,
    ) -> Option<Arc<Allowance>> {
        if !self.entries.contains_key(&address) && self.entries.len() >= self.most {
            self.make_room(now);
        }
        let entry = self.entries.entry(address).or_default();
        if most_connections != 0 && entry.connections >= most_connections {
            return None;
        }
        entry.connections += 1;
        Some(entry.allowance.clone())
    }

    /// Counts the end of a connection from this address.
    pub fn leave(&mut self, address: AddressKey) {
        if let Some(entry) = self.entries.get_mut(&address) {
            entry.connections = entry.connections.saturating_sub(1);
        }
    }

    /// Forgets addresses without a connection: first those with a full allowance, which loses nothing. If
    /// the table is still full, all others, too.
    fn make_room(&mut self, now: u64) {
        let used = |entry: &Entry| entry.connections > 0;
        self.entries
            .retain(|_, entry| used(entry) || !entry.allowance.is_full(now));
        if self.entries.len() >= self.most {
            self.entries.retain(|_, entry| used(entry));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::access::Rate;

    fn key(text: &str) -> AddressKey {
        AddressKey::of(text.parse().unwrap())
    }

    #[test]
    fn one_subscriber_is_one_address() {
        assert_eq!(key("2001:db8:1:2::7"), key("2001:db8:1:2:ffff::8"));
        assert_ne!(key("2001:db8:1:2::7"), key("2001:db8:1:3::7"));
        assert_eq!(key("::ffff:10.0.0.1"), key("10.0.0.1"));
        assert_ne!(key("10.0.0.1"), key("10.0.0.2"));
    }

    #[test]
    fn an_address_has_one_allowance_and_a_number_of_connections() {
        let mut table = AddressTable::new(10);
        let rate = Rate::new(1, 1).unwrap();
        let first = table.enter(key("10.0.0.1"), 2, 0).unwrap();
        assert!(first.lines.take(0, rate).is_ok());
        let second = table.enter(key("10.0.0.1"), 2, 0).unwrap();
        assert!(second.lines.take(0, rate).is_err(), "they share it");
        assert!(table.enter(key("10.0.0.1"), 2, 0).is_none());
        let other = table.enter(key("10.0.0.2"), 2, 0).unwrap();
        assert!(other.lines.take(0, rate).is_ok());
        table.leave(key("10.0.0.1"));
        let again = table.enter(key("10.0.0.1"), 2, 0).unwrap();
        assert!(
            again.lines.take(0, rate).is_err(),
            "reconnecting brings nothing"
        );
    }

    #[test]
    fn the_table_is_bounded_and_keeps_who_is_connected() {
        let mut table = AddressTable::new(100);
        let rate = Rate::new(1, 1).unwrap();
        let inside = table.enter(key("10.0.0.1"), 2, 0).unwrap();
        assert!(inside.lines.take(0, rate).is_ok());
        for n in 0..100_000u32 {
            let address = AddressKey::of(IpAddr::V4((n + (11 << 24)).into()));
            let visit = table.enter(address, 2, 0).unwrap();
            let _ = visit.lines.take(0, rate);
            table.leave(address);
            assert!(table.entries.len() <= 100);
        }
        let again = table.enter(key("10.0.0.1"), 2, 0).unwrap();
        assert!(again.lines.take(0, rate).is_err());
    }
}
