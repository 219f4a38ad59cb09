//! Handles the daemon's replies: decides which players to move.

use std::collections::BTreeMap;

use super::{
    IdTech3,
    commands::{IdTech3Orders, ReplaceableBot, SpareBot},
    slots::Slot,
};
use crate::{
    domain::{Ident, Move},
    protocol::Reply,
    sidecar::{Act, Sidecar, link::recorded, lull::ChosenTeams, progress::GamePhase},
};

impl IdTech3 {
    pub(super) fn take_reply(&mut self, reply: Reply, now: u64, acts: &mut Vec<Act>) {
        self.chat.reply(&reply, acts);
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
                self.move_in_play(&id, team, now);
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
        for entry in self.slots.entries_mut().filter(|entry| entry.joined) {
            if let Some(team) = chosen.teams.get(&entry.id) {
                entry.team = Some(*team);
            }
        }
        self.choose(chosen, now, acts);
    }

    fn rebalanced(&mut self, ratio: f64, moves: &[Move], now: u64, acts: &mut Vec<Act>) {
        let joined = self.slots.entries().filter(|(_, _, entry)| entry.joined);
        let mut teams: BTreeMap<String, u8> = joined
            .filter_map(|(_, slot, entry)| Some((entry.id.clone(), slot.team()?)))
            .collect();
        let moved = moves
            .iter()
            .map(|step| (step.id.text().to_owned(), step.to));
        teams.extend(moved);
        let voted = std::mem::take(&mut self.voted);
        if voted && moves.is_empty() {
            let text = format!("the teams stay, they are as even as can be: ratio {ratio:.2}");
            self.chat.announce(&text);
        }
        if voted && !self.is_lull() {
            self.move_as_voted(ratio, moves);
        } else {
            let bots = None;
            self.choose(ChosenTeams { ratio, teams, bots }, now, acts);
        }
    }

    /// Orders the moves that players have voted for in play.
    fn move_as_voted(&mut self, ratio: f64, moves: &[Move]) {
        let mut orders = IdTech3Orders::default();
        for step in moves {
            let found = self
                .slots
                .entries()
                .find(|(_, _, entry)| entry.joined && entry.id == step.id.text());
            if let Some((number, slot, _)) = found
                && slot.team() != Some(step.to)
            {
                order(&mut orders, number, slot, step.to);
            }
        }
        self.console_orders(&orders, ratio);
    }

    /// Queues the commands for these moves, with their number.
    fn console_orders(&mut self, orders: &IdTech3Orders, ratio: f64) {
        if orders.is_empty() {
            return;
        }
        let count = orders.count();
        let players = if count == 1 { "player" } else { "players" };
        let text = format!("say Evenkeel: {count} {players} to even teams, ratio {ratio:.2}");
        self.console.push([text]);
        self.console.push(orders.commands(self.settings.admin));
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
    fn move_in_play(&mut self, id: &Ident, team: u8, now: u64) {
        let found = self
            .slots
            .entries()
            .find(|(_, _, entry)| entry.joined && entry.id == id.text());
        let Some((number, slot, _)) = found else {
            return;
        };
        let mut orders = IdTech3Orders::default();
        if slot.team() != Some(team) && self.settings.auto_balance {
            order(&mut orders, number, slot, team);
        }
        if let Some(entry) = self.slots.slot(number).entry.as_mut() {
            (entry.team, entry.placing) = (Some(team), false);
        }
        self.doubt = Some(now);
        if !orders.is_empty() {
            self.console
                .push(["say Evenkeel: one player changes teams".to_owned()]);
            self.console.push(orders.commands(self.settings.admin));
        }
    }

    /// Whether teams may be chosen now: no play is running, and the next game is a team game.
    pub(super) fn is_lull(&self) -> bool {
        self.game.as_ref().is_some_and(|game| {
            let now = match game.progress.phase() {
                GamePhase::WarmUp => true,
                GamePhase::Ended => !self.warms_up,
                GamePhase::Opening | GamePhase::Playing | GamePhase::Over => false,
            };
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
        if self
            .lull
            .compare(orders.count(), self.settings.attempts, now, acts)
        {
            self.console_orders(&orders, ratio);
        }
    }

    fn orders(&self, chosen: &ChosenTeams) -> IdTech3Orders {
        let mut orders = IdTech3Orders::default();
        let mut bots = Vec::new();
        for (number, slot, entry) in self.slots.entries() {
            if !entry.joined {
                bots.extend(present_bot(number, slot));
            } else if let Some(&team) = chosen.teams.get(&entry.id)
                && slot.team() != Some(team)
            {
                order(&mut orders, number, slot, team);
            }
        }
        if let Some(counts) = &chosen.bots {
            orders.seat_bots(bots, counts, &self.settings.spare_bots);
        }
        orders
    }

    /// Sends the daemon the teams on which the players actually are.
    pub(super) fn send_real_teams(&mut self, acts: &mut Vec<Act>) {
        let Some(game) = &self.game else { return };
        for entry in self.slots.entries_mut() {
            entry.placing = false;
        }
        for number in 0..self.slots.len() {
            if self.slots.entry(number).is_some() {
                let requests = self
                    .slots
                    .update(number, game.setup.teams, &self.settings, false);
                acts.extend(requests.into_iter().map(Act::Send));
            }
        }
    }
}

/// Orders a client's change of team: moves a human, or removes a bot and adds it again.
fn order(orders: &mut IdTech3Orders, number: usize, slot: &Slot, team: u8) {
    if !slot.is_bot() {
        orders.force.push((number, team));
    } else if let Some(bot) = present_bot(number, slot) {
        orders.reseat(bot, team);
    }
}

fn present_bot(number: usize, slot: &Slot) -> Option<ReplaceableBot> {
    Some(ReplaceableBot {
        number,
        team: slot.team()?,
        again: SpareBot::new(&slot.client.name(), slot.skill()),
    })
}
