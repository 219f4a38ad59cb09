//! Players whom a round has found for a match in play are sent there.

use super::{
    backfill::Filling,
    hosting::{Hosting, draw_pass},
};
use crate::{
    coordinator::{Hosted, Newcomer},
    tickets::{Life, Seat},
};

impl Hosting {
    /// Sends the tickets that a round has found to a match in play, unless its players have changed since.
    pub fn fill(&mut self, life: &mut Life, filling: Filling) -> bool {
        let Filling {
            id,
            version,
            seats,
            why,
        } = filling;
        let seeking = self.coordinator.seeking();
        let same =
            |(hosted, _): &(&Hosted, Vec<usize>)| hosted.id == id && hosted.version == version;
        let Some((_, free)) = seeking.iter().find(|one| same(one)) else {
            return false;
        };
        let mut free = free.clone();
        for (number, team) in &seats {
            let players = life
                .ticket(*number)
                .map_or(usize::MAX, |one| one.ticket.players.len());
            match free.get_mut(usize::from(*team)) {
                Some(free) if *free >= players => *free -= players,
                _ => return false,
            }
        }
        let Some(seats) = life.join_later(id, &seats, why) else {
            return false;
        };
        let newcomer = |seat: Seat| Newcomer {
            player: seat.player,
            ticket: seat.ticket,
            team: seat.team,
            pass: draw_pass(),
        };
        let players = seats.into_iter().map(newcomer).collect();
        self.coordinator.call_later(id, players);
        true
    }
}
