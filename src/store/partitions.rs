//! The partitions: parts of the queues, each of which one daemon runs at a time.

/// By how many bits the slot of a partition is shifted in the numbers of its tickets.
const SHIFT: u32 = 40;

/// The number after which those of a partition's tickets come.
pub fn ticket_base(partition: i64) -> i64 {
    partition.checked_shl(SHIFT).unwrap_or(0)
}
