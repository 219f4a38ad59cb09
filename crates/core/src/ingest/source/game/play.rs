//! What players do.

use super::Game;
use crate::ingest::{
    clock::Calendar,
    source::{
        clients::ConnectedClients,
        grammar::{PlayerAction, PlayerTag},
    },
};

impl Game {
    pub(super) fn act(
        &mut self,
        line: u64,
        who: PlayerTag<'_>,
        act: PlayerAction<'_>,
        clients: &mut ConnectedClients,
        now: Calendar,
    ) {
        // Track clients after the end of a game, too, because the next game begins with those who
        // are there.
        clients.note(who, act, &mut self.context(now));
        match act {
            _ if self.lasted.is_some() => {}
            PlayerAction::Kill { victim, knife } => {
                self.fought = true;
                let kills = &mut self.kills[usize::from(!knife)];
                *kills = kills.saturating_add(1);
                self.play(line);
                self.kill(who, victim, clients, now);
            }
            PlayerAction::Die if self.millis(now) > 0 => self.death(who, clients, now),
            PlayerAction::Capture => self.capture(who, clients, now),
            _ => {}
        }
    }

    fn kill(
        &mut self,
        who: PlayerTag<'_>,
        victim: PlayerTag<'_>,
        clients: &mut ConnectedClients,
        now: Calendar,
    ) {
        if !clients.dies(&victim, now.position()) {
            return;
        }
        let seat = |who| clients.get(who).map(|client| (client.visit, client.team()));
        let (killer, killed) = (seat(&who), seat(&victim));
        let at = self.millis(now);
        self.recorder
            .count_death(killed.and_then(|(visit, _)| visit), at);
        if let (Some((visit, team)), Some((_, other))) = (killer, killed)
            && team != other
        {
            self.recorder.count_kill(visit, at);
        }
    }

    fn death(&mut self, who: PlayerTag<'_>, clients: &mut ConnectedClients, now: Calendar) {
        if clients.dies(&who, now.position()) {
            let visit = clients.get(&who).and_then(|client| client.visit);
            self.recorder.count_death(visit, self.millis(now));
        }
    }

    /// Handles the capture of a control point, whose name shows the kind of play.
    pub(super) fn point(&mut self, name: &[u8]) {
        self.points.note(name);
        self.seen.get_or_insert(match name {
            _ if name.starts_with(b"#koth") => "koth",
            _ if name.starts_with(b"#plr") => "plr",
            _ if name.starts_with(b"#pl") => "pl",
            _ => "cp",
        });
    }

    fn capture(&mut self, who: PlayerTag<'_>, clients: &mut ConnectedClients, now: Calendar) {
        self.seen = Some("ctf");
        let news = clients.captures(&who, now.position());
        let Some((visit, Some(team))) = clients.get(&who).map(|c| (c.visit, c.team())) else {
            return;
        };
        if news && self.began.is_some() {
            let at = self.recorder.tick(self.millis(now));
            self.recorder.score(team, 1.0, visit, at);
        }
    }
}
