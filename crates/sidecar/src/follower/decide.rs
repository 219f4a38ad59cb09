//! Handles the daemon's replies: decides which players to move.

use std::collections::BTreeMap;

use evenkeel_model::{
    ident::Ident,
    in_game::{Contest, Move, Streak},
};
use evenkeel_protocol::{Push, Reply, Request, push::GameNotice};

use super::{Follower, server::RoundSides};
use crate::{
    balancing_window::ChosenTeams,
    chat::ChatGame,
    engine::{Engine, TeamChanges, TeamOrders},
    link::recorded,
};

impl<E: Engine> Follower<E> {
    pub(super) fn take_reply(&mut self, reply: Reply) {
        self.server.chat.reply(&reply, &mut self.server.acts);
        match reply {
            Reply::Balance {
                ratio,
                humans,
                bots,
                ..
            } => self.balanced(ratio, &humans, bots),
            Reply::Rebalance { after, moves, .. } => self.rebalanced(after, &moves),
            Reply::Bots(_, counts) => {
                if let Some(chosen) = self.server.window.chosen_mut()
                    && !self.server.settings.bots_as_players
                {
                    chosen.bots = Some(counts);
                }
            }
            Reply::Place(id, team, _) | Reply::Move(Move { id, to: team, .. }) => {
                self.move_in_play(&id, team);
            }
            Reply::Hello { .. } => self.server.link.greeted(),
            Reply::End { id, unrated } => self.server.acts.push(recorded(id, unrated)),
            Reply::Error(refusal) => {
                if self.server.link.refused(&refusal, &mut self.server.acts)
                    && let Some(game) = &mut self.server.game
                {
                    game.complete = false; // its version does not follow games
                }
            }
            _ => {}
        }
    }

    fn balanced(&mut self, ratio: f64, humans: &[(Ident, u8)], bots: Vec<u32>) {
        let server = &mut self.server;
        let bots = (!server.settings.bots_as_players).then_some(bots);
        let chosen = ChosenTeams::of(ratio, humans, bots);
        // The daemon's roster has these teams from now on.
        for entry in server.roster.entries_mut().filter(|entry| entry.joined) {
            if let Some(team) = chosen.teams.get(&entry.id) {
                entry.team = Some(*team);
            }
        }
        let mixing = std::mem::take(&mut self.server.mixing);
        match mixing && !self.is_balancing_window() {
            true => self.mix(&chosen),
            false => self.choose(chosen),
        }
    }

    /// Orders the moves to teams that were chosen between two rounds. Bots stay where they are.
    fn mix(&mut self, chosen: &ChosenTeams) {
        let mut changes = self.changes(chosen);
        (changes.bot_counts, changes.bots) = (None, Vec::new());
        let orders = self.engine.orders(&changes);
        if orders.commands.is_empty() {
            let text = "the teams stay, they are as even as can be";
            self.server.chat.announce(text);
        }
        self.order(orders, chosen.ratio);
        self.server.doubt = Some(self.server.now);
    }

    fn rebalanced(&mut self, ratio: f64, moves: &[Move]) {
        let server = &mut self.server;
        let joined = server.roster.entries().filter(|(_, entry)| entry.joined);
        let mut teams: BTreeMap<String, u8> = joined
            .filter_map(|(player, entry)| Some((entry.id.clone(), server.team_of(player.side?))))
            .collect();
        let moved = moves
            .iter()
            .map(|step| (step.id.text().to_owned(), step.to));
        teams.extend(moved);
        let voted = std::mem::take(&mut server.voted);
        if voted && moves.is_empty() && !server.chat.is_asking() {
            let text = format!("the teams stay, they are as even as can be: ratio {ratio:.2}");
            server.chat.announce(&text);
        }
        if voted && !self.is_balancing_window() {
            let orders = self.orders_of(moves.iter().map(|step| (&step.id, step.to)));
            self.order(orders, ratio);
        } else {
            let bots = None;
            self.choose(ChosenTeams { ratio, teams, bots });
        }
    }

    fn choose(&mut self, chosen: ChosenTeams) {
        if self.is_balancing_window() {
            self.server.window.choose(chosen);
            self.pass_time();
        } else {
            let text = "play began before teams were chosen: no player is moved";
            self.server.report(text);
        }
    }

    /// Handles MOVE: the daemon has moved a player during play.
    fn move_in_play(&mut self, id: &Ident, team: u8) {
        let mut entries = self.server.roster.entries();
        if !entries.any(|(_, entry)| entry.joined && entry.id == id.text()) {
            return;
        }
        drop(entries);
        if self.server.settings.auto_balance {
            let orders = self.orders_of([(id, team)].into_iter());
            if !orders.commands.is_empty() {
                let text = "say Evenkeel: one player changes teams";
                self.console.push([text.to_owned()]);
                self.command(orders);
            }
        }
        let mut entries = self.server.roster.entries_mut();
        if let Some(entry) = entries.find(|entry| entry.joined && entry.id == id.text()) {
            (entry.team, entry.placing) = (Some(team), false);
        }
        self.server.doubt = Some(self.server.now);
    }

    /// Orders the moves from the actual teams to the chosen ones.
    pub(super) fn compare(&mut self) {
        let Some(chosen) = self.server.window.chosen() else {
            return;
        };
        let ratio = chosen.ratio;
        let orders = self.engine.orders(&self.changes(chosen));
        let server = &mut self.server;
        let attempts = server.settings.attempts;
        if server
            .window
            .compare(orders.count, attempts, server.now, &mut server.acts)
        {
            self.order(orders, ratio);
        }
    }

    /// Queues the commands for these moves, with their number.
    fn order(&mut self, orders: TeamOrders, ratio: f64) {
        if orders.commands.is_empty() {
            return;
        }
        let count = orders.count;
        let players = if count == 1 { "player" } else { "players" };
        let text = format!("say Evenkeel: {count} {players} to even teams, ratio {ratio:.2}");
        self.console.push([text]);
        self.command(orders);
    }

    /// Queues commands that change teams.
    pub(super) fn command(&mut self, orders: TeamOrders) {
        self.server.roster.note_removed(&orders.removed);
        self.console.push(orders.commands);
    }

    /// The commands that move these players to these teams, as far as they are not on them.
    fn orders_of<'a>(&self, moves: impl Iterator<Item = (&'a Ident, u8)>) -> TeamOrders {
        let server = &self.server;
        let changed = moves.filter_map(|(id, team)| {
            let mut entries = server.roster.entries();
            let found = entries.find(|(_, entry)| entry.joined && entry.id == id.text());
            let (player, side) = (found?.0, server.team_of(team));
            (player.side != Some(side)).then_some((player, side))
        });
        self.engine.orders(&TeamChanges {
            moves: changed.collect(),
            ..TeamChanges::default()
        })
    }

    /// The changes from the actual teams to the chosen ones.
    fn changes(&self, chosen: &ChosenTeams) -> TeamChanges<'_> {
        let server = &self.server;
        let mut changes = TeamChanges::default();
        for (player, entry) in server.roster.entries() {
            let Some(side) = player.side else { continue };
            if !entry.joined {
                changes.bots.push((player, side));
            } else if let Some(&team) = chosen.teams.get(&entry.id)
                && server.team_of(side) != team
            {
                changes.moves.push((player, server.team_of(team)));
            }
        }
        changes.bot_counts = chosen.bots.as_ref().map(|counts| {
            let sides = (0u8..).zip(counts);
            let count = sides.map(|(side, _)| counts.get(usize::from(server.team_of(side))));
            count.map(|count| count.copied().unwrap_or(0)).collect()
        });
        changes
    }
}

impl<E: Engine> Follower<E> {
    pub(super) fn take_push(&mut self, push: &Push) {
        let server = &mut self.server;
        let Some(notice) = GameNotice::read(push) else {
            return;
        };
        match notice {
            GameNotice::Streak(streak) if server.settings.auto_balance => {
                server.streak = Some(streak);
            }
            GameNotice::Streak(_) => {}
            _ if !server.asks() => {}
            GameNotice::Offer(step, seconds) => server.chat.offered(step, seconds, server.now),
            GameNotice::Withdrawn(id, why) => server.chat.withdrawn(&id, why),
            GameNotice::Move(step) => server.to_move.push(step),
        }
    }

    /// Orders the moves with which an offer has ended, all at once.
    pub(super) fn make_offered_moves(&mut self) {
        let moves = std::mem::take(&mut self.server.to_move);
        if moves.is_empty() {
            return;
        }
        let players = self.server.chat_players();
        let game = ChatGame {
            players: &players,
            can_balance: true,
        };
        self.server.chat.announce_moves(&moves, &game);
        let orders = self.orders_of(moves.iter().map(|step| (&step.id, step.to)));
        self.command(orders);
        self.server.send(Request::Explain);
    }
}

impl<E: Engine> Follower<E> {
    /// Asks for other teams if there was a streak, and this is a lull with at least two players: a balancing window in
    /// which nobody has come or gone for a while, or the time between two rounds.
    pub(super) fn end_streak(&mut self) {
        let window = self.is_balancing_window();
        let server = &mut self.server;
        let watch = server.game.as_ref().and_then(|game| game.watch.as_ref());
        let between = watch.is_some_and(RoundSides::is_between_rounds);
        let quiet = match window {
            true => server.window.is_settled(server.settings.settle, server.now),
            false => between && server.is_playing(),
        };
        let present = server.joined();
        if !quiet || present.len() < 2 {
            return;
        }
        let Some(streak) = server.streak.take() else {
            return;
        };
        server.chat.announce(&why(&streak, E::TEAM_NAMES));
        let (top, seed) = (None, None);
        server.send(Request::Balance { top, seed });
        match window {
            true => server.window.ask(present),
            false => server.mixing = true,
        }
    }
}

/// Why teams are chosen anew, for all players.
fn why(Streak { team, wins, of }: &Streak, names: &[&str]) -> String {
    let who = match (of, names.get(usize::from(*team))) {
        (Contest::Rounds, Some(name)) => (*name).to_owned(),
        (Contest::Rounds, None) => format!("team {team}"),
        (Contest::Matches, _) => "the same people".to_owned(),
    };
    let verb = if *of == Contest::Rounds {
        "has"
    } else {
        "have"
    };
    format!("{who} {verb} won {wins} {of} in a row by far, so teams are chosen anew")
}
