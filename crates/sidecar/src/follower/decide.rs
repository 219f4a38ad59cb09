//! Decides when to choose teams, and handles the daemon's replies: whom to move. A balancing window is the time in which a
//! sidecar may choose teams: a warm-up, the time after a game, or the time in which a server waits for players.

use std::collections::BTreeMap;

use evenkeel_model::{
    ident::Ident,
    in_game::{Contest, Move, Streak},
};
use evenkeel_protocol::{Push, Reply, Request, push::GameNotice};

use super::{Follower, server::RoundSides};
use crate::{
    Act,
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

/// The time that a move may take before it is ordered again, in milliseconds. A game server
/// executes about one remote command per second.
const PATIENCE: u64 = 3_000;

/// The teams that the daemon chose.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChosenTeams {
    /// The ratio of the chosen teams, 0 to 1.
    pub(super) ratio: f64,
    /// The team of each identity.
    pub(super) teams: BTreeMap<String, u8>,
    /// The number of bots on each team; `None` if the daemon places each bot itself.
    pub(super) bots: Option<Vec<u32>>,
}

impl ChosenTeams {
    /// The teams of a reply to BALANCE, with the number of bots on each team if the daemon decides it.
    pub(super) fn of(ratio: f64, humans: &[(Ident, u8)], bots: Option<Vec<u32>>) -> Self {
        let teams = humans.iter();
        let teams = teams.map(|(id, team)| (id.text().to_owned(), *team));
        Self {
            ratio,
            teams: teams.collect(),
            bots,
        }
    }
}

/// What to do next in a balancing window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowStep {
    /// Do nothing now.
    Wait,
    /// Ask the daemon for teams.
    Ask {
        /// Whether this is the first request in this window.
        first: bool,
    },
    /// Compare the teams on the game server with those chosen.
    Compare,
}

/// The state of one balancing window. Times are milliseconds of the caller's clock.
#[derive(Debug, Default)]
pub(super) struct BalancingWindow {
    /// When a player last joined, left or changed teams.
    changed: u64,
    /// The identities in the last request for teams.
    asked: Option<Vec<String>>,
    chosen: Option<ChosenTeams>,
    /// How often moves to the chosen teams were ordered.
    orders: u32,
    /// The time until which ordered moves can still take effect.
    patience: u64,
    /// Whether the outcome has been reported to the operator.
    reported: bool,
}

impl BalancingWindow {
    pub(super) fn new(now: u64) -> Self {
        Self {
            changed: now,
            ..Self::default()
        }
    }

    pub(super) fn change(&mut self, now: u64) {
        self.changed = now;
    }

    /// The next step if these identities, sorted, are on the game server. Waits until `settle`
    /// milliseconds after the last change, and with fewer than two players.
    pub(super) fn step(&self, present: &[String], settle: u64, now: u64) -> WindowStep {
        if present.len() < 2 || !self.is_settled(settle, now) {
            return WindowStep::Wait;
        }
        match &self.chosen {
            Some(chosen) if chosen.teams.keys().eq(present.iter()) => WindowStep::Compare,
            // A bot that was kicked, to be added to the other team, may not be back yet.
            _ if now < self.patience => WindowStep::Wait,
            _ if self.asked.as_deref() == Some(present) => WindowStep::Wait,
            _ => WindowStep::Ask {
                first: self.asked.is_none(),
            },
        }
    }

    /// Whether nobody has come, gone or changed teams for `settle` milliseconds.
    pub(super) fn is_settled(&self, settle: u64, now: u64) -> bool {
        now >= self.changed.saturating_add(settle)
    }

    pub(super) fn ask(&mut self, present: Vec<String>) {
        self.asked = Some(present);
        self.chosen = None;
    }

    pub(super) fn choose(&mut self, chosen: ChosenTeams) {
        self.chosen = Some(chosen);
        self.orders = 0;
        self.reported = false;
    }

    pub(super) fn chosen(&self) -> Option<&ChosenTeams> {
        self.chosen.as_ref()
    }

    pub(super) fn chosen_mut(&mut self) -> Option<&mut ChosenTeams> {
        self.chosen.as_mut()
    }

    /// Counts another order of the moves. Returns false if all `attempts` are used.
    fn order(&mut self, attempts: u32, now: u64) -> bool {
        if self.orders >= attempts {
            return false;
        }
        self.orders += 1;
        self.patience = now.saturating_add(PATIENCE);
        true
    }

    /// Decides what to do about the `moves` that are left from the teams on the game server to the chosen
    /// ones. Returns whether to order them now. Reports to the operator, once, that the teams are as
    /// chosen, or that the moves have failed `attempts` times.
    pub(super) fn compare(
        &mut self,
        moves: usize,
        attempts: u32,
        now: u64,
        acts: &mut Vec<Act>,
    ) -> bool {
        let Some(chosen) = &self.chosen else {
            return false;
        };
        let text = if moves == 0 {
            self.patience = 0;
            format!("the teams are as chosen, ratio {:.3}", chosen.ratio)
        } else if now < self.patience {
            // The ordered moves may still take effect.
            return false;
        } else if self.order(attempts, now) {
            self.reported = false;
            return true;
        } else if moves == 1 {
            "1 move was ordered and not carried out".to_owned()
        } else {
            format!("{moves} moves were ordered and not carried out")
        };
        if !std::mem::replace(&mut self.reported, true) {
            acts.push(Act::Report(text));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_once_for_the_same_people() {
        let ids = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut window = BalancingWindow::new(1_000);
        assert_eq!(
            window.step(&ids("a b"), 500, 1_499),
            WindowStep::Wait,
            "too early"
        );
        assert_eq!(
            window.step(&ids("a"), 500, 9_000),
            WindowStep::Wait,
            "too few"
        );
        assert_eq!(
            window.step(&ids("a b"), 500, 1_500),
            WindowStep::Ask { first: true }
        );
        window.ask(ids("a b"));
        assert_eq!(
            window.step(&ids("a b"), 500, 1_600),
            WindowStep::Wait,
            "no answer yet"
        );
        window.choose(ChosenTeams {
            ratio: 1.0,
            teams: [("a".to_owned(), 0), ("b".to_owned(), 1)].into(),
            bots: None,
        });
        assert_eq!(window.step(&ids("a b"), 500, 1_600), WindowStep::Compare);
        assert!(window.compare(1, 2, 1_600, &mut Vec::new()));
        assert!(
            !window.compare(1, 2, 4_599, &mut Vec::new()),
            "moves take time"
        );
        assert_eq!(window.step(&ids("a"), 500, 4_599), WindowStep::Wait);
        assert!(window.compare(1, 2, 4_600, &mut Vec::new()));
        assert_eq!(
            window.step(&ids("a b c"), 500, 7_599),
            WindowStep::Wait,
            "who went may come back"
        );
        assert_eq!(
            window.step(&ids("a b c"), 500, 7_600),
            WindowStep::Ask { first: false }
        );
        let mut reports = Vec::new();
        assert!(!window.compare(2, 2, 9_000, &mut reports), "ordered twice");
        assert!(!window.compare(2, 2, 9_500, &mut reports));
        let text = "2 moves were ordered and not carried out";
        assert_eq!(reports, [Act::Report(text.to_owned())], "reported once");
    }
}
