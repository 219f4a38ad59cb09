//! The daemon's answers → who is moved.

use super::Sidecar;
use crate::sidecar::{
    Act,
    answers::Answer,
    commands::{Orders, PresentBot, SpareBot},
    lull::{Choice, Step},
    people::Person,
    play::Phase,
};

impl Sidecar {
    /// A line from the daemon.
    pub fn reply(&mut self, line: &str, now: u64, acts: &mut Vec<Act>) {
        match self.answers.line(line) {
            Some(Answer::Balance { ratio, teams, bots }) => {
                for (id, team) in &teams {
                    let mut known = self.people.known_mut();
                    if let Some(known) = known.find(|known| known.joined && known.id == *id) {
                        known.team = Some(*team);
                    }
                }
                let teams = teams.into_iter().collect();
                let bots = (!self.settings.bots_as_players).then_some(bots);
                self.choose(Choice { ratio, teams, bots }, now, acts);
            }
            Some(Answer::Rebalance { ratio, moves }) => {
                let known = self.people.known().filter(|(_, _, known)| known.joined);
                let mut teams: std::collections::BTreeMap<String, u8> = known
                    .filter_map(|(_, person, known)| Some((known.id.clone(), person.team()?)))
                    .collect();
                teams.extend(moves);
                let bots = None;
                self.choose(Choice { ratio, teams, bots }, now, acts);
            }
            Some(Answer::Bots(counts)) => {
                if let Some(choice) = self.lull.choice_mut()
                    && !self.settings.bots_as_players
                {
                    choice.bots = Some(counts);
                }
            }
            Some(Answer::Side { id, team }) => self.side(&id, team, now, acts),
            Some(Answer::End(what)) => acts.push(Act::Tell(format!("the game is over: {what}"))),
            Some(Answer::Refused(why)) => self.refused(&why, acts),
            Some(Answer::Other) | None => {}
        }
    }

    fn refused(&mut self, why: &str, acts: &mut Vec<Act>) {
        if !why.starts_with("unknown-command") {
            acts.push(Act::Tell(format!("the daemon refuses: {}", plain(why))));
        } else if !std::mem::replace(&mut self.outdated, true) {
            let text = "this daemon does not follow games: it has to learn from their logs";
            acts.push(Act::Tell(text.to_owned()));
            if let Some(game) = &mut self.game {
                game.whole = false;
            }
        }
    }

    fn choose(&mut self, choice: Choice, now: u64, acts: &mut Vec<Act>) {
        if self.is_lull() {
            self.lull.choose(choice);
            self.tick(now, acts);
        } else {
            let text = "play has begun before teams were chosen; nobody is moved".to_owned();
            acts.push(Act::Tell(text));
        }
    }

    /// Somebody belongs on this team, now that play is on.
    fn side(&mut self, id: &str, team: u8, now: u64, acts: &mut Vec<Act>) {
        let found = self
            .people
            .known()
            .find(|(_, _, known)| known.joined && known.id == id);
        let Some((number, person, _)) = found else {
            return;
        };
        let mut orders = Orders::default();
        if person.team() != Some(team) && self.settings.auto_balance {
            order(&mut orders, number, person, team);
        }
        if let Some(known) = self.people.client(number).known.as_mut() {
            known.team = Some(team);
        }
        self.doubt = Some(now);
        if !orders.is_empty() {
            let mut commands = orders.commands(self.settings.admin);
            commands.insert(0, "say Evenkeel: one player changes teams".to_owned());
            acts.push(Act::Console(commands));
        }
    }

    /// Whether teams may be chosen: nobody plays, and what comes next is a game in teams.
    pub(super) fn is_lull(&self) -> bool {
        self.game.as_ref().is_some_and(|game| {
            let now = match game.phase {
                Phase::WarmUp => true,
                Phase::Ended => !self.warms_up,
                Phase::Opening | Phase::Playing | Phase::Over => false,
            };
            now && game.rules.teams
        })
    }

    pub(super) fn think(&mut self, now: u64, acts: &mut Vec<Act>) {
        let joined = self.people.known().filter(|(_, _, known)| known.joined);
        let mut present: Vec<String> = joined.map(|(_, _, known)| known.id.clone()).collect();
        present.sort();
        match self.lull.step(&present, self.settings.settle, now) {
            Step::Wait => {}
            Step::Ask { first } => {
                if first {
                    acts.push(Act::Say("BALANCE".to_owned()));
                } else {
                    self.tell_truth(acts);
                    acts.push(Act::Say("REBALANCE".to_owned()));
                    acts.push(Act::Say("BOTS".to_owned()));
                }
                self.lull.ask(present);
            }
            Step::Compare => self.compare(now, acts),
        }
    }

    /// Orders the moves that are still to be made.
    fn compare(&mut self, now: u64, acts: &mut Vec<Act>) {
        let Some(choice) = self.lull.choice() else {
            return;
        };
        let ratio = choice.ratio;
        let orders = self.orders(choice);
        if orders.is_empty() {
            self.lull.arrive();
            if !std::mem::replace(&mut self.lull.told, true) {
                acts.push(Act::Tell(format!(
                    "the teams are as chosen, ratio {ratio:.3}"
                )));
            }
        } else if self.lull.is_patient(now) {
            // They may be on their way.
        } else if self.lull.order(self.settings.attempts, now) {
            let count = orders.count();
            let players = if count == 1 { "player" } else { "players" };
            let mut commands = orders.commands(self.settings.admin);
            commands.insert(
                0,
                format!("say Evenkeel: {count} {players} to even teams, ratio {ratio:.2}"),
            );
            acts.push(Act::Console(commands));
            // What was ordered shows in the log, which tells when to look again.
            self.lull.told = false;
        } else if !std::mem::replace(&mut self.lull.told, true) {
            let text = match orders.count() {
                1 => "1 move was ordered and did not happen".to_owned(),
                count => format!("{count} moves were ordered and did not happen"),
            };
            acts.push(Act::Tell(text));
        }
    }

    fn orders(&self, choice: &Choice) -> Orders {
        let mut orders = Orders::default();
        let mut bots = Vec::new();
        for (number, person, known) in self.people.known() {
            if !known.joined {
                bots.extend(present_bot(number, person));
            } else if let Some(&team) = choice.teams.get(&known.id)
                && person.team() != Some(team)
            {
                order(&mut orders, number, person, team);
            }
        }
        if let Some(counts) = &choice.bots {
            orders.seat_bots(bots, counts, &self.settings.spare_bots);
        }
        orders
    }

    /// The daemon hears on which teams everybody really is.
    pub(super) fn tell_truth(&mut self, acts: &mut Vec<Act>) {
        let Some(game) = &self.game else { return };
        for number in 0..self.people.len() {
            if self
                .people
                .get(number)
                .is_some_and(|person| person.known.is_some())
            {
                let said = self
                    .people
                    .tell(number, game.rules.teams, &self.settings, false);
                acts.extend(said.into_iter().map(Act::Say));
            }
        }
    }
}

/// One person goes to a team: a human is moved, a bot goes and comes back.
fn order(orders: &mut Orders, number: usize, person: &Person, team: u8) {
    if !person.is_bot() {
        orders.force.push((number, team));
    } else if let Some(bot) = present_bot(number, person) {
        orders.reseat(bot, team);
    }
}

fn present_bot(number: usize, person: &Person) -> Option<PresentBot> {
    Some(PresentBot {
        number,
        team: person.team()?,
        again: SpareBot::new(&person.client.name(), person.skill()),
    })
}

/// Without what could drive a terminal.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}
