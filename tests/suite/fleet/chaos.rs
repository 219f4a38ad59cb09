//! The daemon that runs the queues is killed and paused while tickets come in at all daemons.

use crate::common::fleet_kills::chaos;

#[test]
fn no_ticket_is_lost_or_in_two_matches() {
    let Some(kills) = chaos(6) else {
        return;
    };
    assert!(kills.killed > 0 && kills.paused > 0, "{kills:?}");
    assert_eq!(kills.answered, 360, "{kills:?}");
    assert!(kills.matched + kills.cancelled >= 359, "{kills:?}");
    assert_eq!(
        (kills.lost, kills.twice, kills.unheard),
        (0, 0, 0),
        "{kills:?}"
    );
}
