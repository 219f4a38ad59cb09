//! Handles the daemon's replies: decides which players to move.

use std::collections::BTreeMap;

use super::{
    GameFollower,
    orders::{Orders, PresentBot},
};
use crate::{
    domain::{Ident, Move},
    protocol::Reply,
    sidecar::{Act, link::recorded, lull::ChosenTeams, progress::GamePhase},
};

impl GameFollower {
    pub(in crate::sidecar) fn reply(&mut self, reply: Reply, now: u64, acts: &mut Vec<Act>) {
        match reply {
            Reply::Balance {
                ratio,
                humans,
                bots,
                ..
            } => self.balanced(ratio, &humans, bots, now, acts),
            Reply::Rebalance { after, moves, .. } => self.rebalanced(after, &moves, now, acts),
            Reply::Bots(_, counts) => {
                if let Some(chosen) = self.lull.chosen_mut()
                    && !self.settings.bots_as_players
                {
                    chosen.bots = Some(counts);
                }
            }
            Reply::Place(id, team, _) | Reply::Move(Move { id, to: team, .. }) => {
                self.move_in_play(&id, team, now, acts);
            }
            Reply::End { id, unrated } => acts.push(recorded(id, unrated)),
            Reply::Error(refusal) => {
                if self.link.refused(&refusal, acts)
                    && let Some(game) = &mut self.game
                {
                    game.progress.give_up();
                }
            }
            _ => {}
        }
    }

    fn balanced(
        &mut self,
        ratio: f64,
        humans: &[(Ident, u8)],
        bots: Vec<u32>,
        now: u64,
        acts: &mut Vec<Act>,
    ) {
        let bots = (!self.settings.bots_as_players).then_some(bots);
        let chosen = ChosenTeams::of(ratio, humans, bots);
        // The daemon's roster has these teams from now on.
        for entry in self.roster.entries_mut().filter(|entry| entry.joined) {
            if let Some(team) = chosen.teams.get(&entry.id) {
                entry.team = Some(*team);
            }
        }
        self.choose(chosen, now, acts);
    }

    fn rebalanced(&mut self, ratio: f64, moves: &[Move], now: u64, acts: &mut Vec<Act>) {
        let joined = self.roster.entries().filter(|(_, entry)| entry.joined);
        let mut teams: BTreeMap<String, u8> = joined
            .filter_map(|(player, entry)| Some((entry.id.clone(), self.team_of(player.side?))))
            .collect();
        let moved = moves
            .iter()
            .map(|step| (step.id.text().to_owned(), step.to));
        teams.extend(moved);
        let bots = None;
        self.choose(ChosenTeams { ratio, teams, bots }, now, acts);
    }

    fn choose(&mut self, chosen: ChosenTeams, now: u64, acts: &mut Vec<Act>) {
        if self.is_lull() {
            self.lull.choose(chosen);
            self.tick(now, acts);
        } else {
            let text = "play began before teams were chosen: no player is moved";
            acts.push(Act::Report(text.to_owned()));
        }
    }

    /// Handles MOVE: the daemon has moved a player during play.
    fn move_in_play(&mut self, id: &Ident, team: u8, now: u64, acts: &mut Vec<Act>) {
        let side = self.team_of(team);
        let auto_balance = self.settings.auto_balance;
        let mut entries = self.roster.entries();
        let found = entries.find(|(_, entry)| entry.joined && entry.id == id.text());
        let Some((player, _)) = found else { return };
        let mut orders = Orders::default();
        if player.side != Some(side) && auto_balance {
            orders
                .moves
                .extend(player.number.map(|number| (number, side)));
        }
        drop(entries);
        let mut entries = self.roster.entries_mut();
        if let Some(entry) = entries.find(|entry| entry.joined && entry.id == id.text()) {
            (entry.team, entry.placing) = (Some(team), false);
        }
        self.doubt = Some(now);
        if !orders.is_empty() {
            let mut commands = orders.commands(&self.settings, self.words);
            commands.insert(0, "say Evenkeel: one player changes teams".to_owned());
            acts.push(Act::Console(commands));
        }
    }

    /// Whether teams may be chosen now: no play is running, and the game is a team game.
    pub(super) fn is_lull(&self) -> bool {
        self.game.as_ref().is_some_and(|game| {
            let now = matches!(
                game.progress.phase(),
                GamePhase::Opening | GamePhase::WarmUp
            );
            now && game.setup.teams
        })
    }

    /// Orders the moves from the actual teams to the chosen ones.
    pub(super) fn compare(&mut self, now: u64, acts: &mut Vec<Act>) {
        let Some(chosen) = self.lull.chosen() else {
            return;
        };
        let ratio = chosen.ratio;
        let orders = self.orders(chosen);
        let count = orders.count();
        if self.lull.compare(count, self.settings.attempts, now, acts) {
            let players = if count == 1 { "player" } else { "players" };
            let mut commands = orders.commands(&self.settings, self.words);
            commands.insert(
                0,
                format!("say Evenkeel: {count} {players} to even teams, ratio {ratio:.2}"),
            );
            acts.push(Act::Console(commands));
        }
    }

    fn orders(&self, chosen: &ChosenTeams) -> Orders {
        let mut orders = Orders::default();
        let mut bots = Vec::new();
        for (player, entry) in self.roster.entries() {
            let Some(side) = player.side else { continue };
            if !entry.joined {
                let number = player.number;
                bots.push(PresentBot { number, side });
            } else if let Some(&team) = chosen.teams.get(&entry.id)
                && self.team_of(side) != team
            {
                let side = self.team_of(team);
                orders
                    .moves
                    .extend(player.number.map(|number| (number, side)));
            }
        }
        if let Some(counts) = &chosen.bots {
            let sides: Vec<u32> = (0u8..)
                .zip(counts)
                .map(|(side, _)| counts.get(usize::from(self.team_of(side))))
                .map(|count| count.copied().unwrap_or(0))
                .collect();
            orders.seat_bots(bots, &sides, self.settings.bots_command.is_some());
        }
        orders
    }

    /// Sends the daemon the teams on which the players actually are.
    pub(super) fn send_real_teams(&mut self, now: u64, acts: &mut Vec<Act>) {
        for entry in self.roster.entries_mut() {
            entry.placing = false;
        }
        for connection in self.roster.connections() {
            if self.roster.entry(&connection).is_some() {
                self.update(&connection, false, now, acts);
            }
        }
    }

    /// The team of a side of the map, or the side of a team.
    pub(super) fn team_of(&self, side: u8) -> u8 {
        self.game.as_ref().map_or(side, |game| game.team_of(side))
    }
}
