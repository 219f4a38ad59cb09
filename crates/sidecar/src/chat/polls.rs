//! What the chat asks the players: whether to balance the teams again, which is a vote, and who changes teams, which is an
//! offer. It warns those who will be moved otherwise, and passes on `!switch`.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_model::{
    ident::Ident,
    in_game::{MOVE_NOTICE, Move, SwitchAnswer, Withdrawal},
};
use evenkeel_protocol::Request;

use super::{
    Chat, ChatGame,
    answers::{plain_name, team_name},
};
use crate::{Act, link::plain_ident};

/// How long a vote is open, in milliseconds.
const OPEN: u64 = 30_000;
/// The time from the end of a vote until the next one may begin, in milliseconds.
const PAUSE: u64 = 60_000;
/// The time from a player's vote until the same player may begin another, in milliseconds.
const OWN_PAUSE: u64 = 300_000;

/// Humans who agree, of those who have to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) agree: usize,
    /// The number at which the vote passes.
    pub(super) needed: usize,
}

/// What a player's command did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ballot {
    /// A vote has begun.
    Began(Count),
    /// The player agrees now.
    Counted(Count),
    /// The player had agreed before.
    Repeated,
    /// The vote has passed.
    Passed,
    /// No vote may begin for this number of seconds.
    TooEarly(u64),
    /// The player is on no team.
    NoVoter,
}

/// The open vote, if there is one, and when the next one may begin. Times are milliseconds of the
/// caller's clock.
#[derive(Debug, Default)]
pub(super) struct Vote {
    open: Option<OpenVote>,
    next: u64,
    /// When each identity may begin a vote again.
    next_of: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct OpenVote {
    until: u64,
    agree: BTreeSet<String>,
}

impl OpenVote {
    /// Counts only humans who are still on a team.
    fn count(&self, voters: &[&str], percent: u8) -> Count {
        let here = voters.iter().filter(|id| self.agree.contains(**id));
        Count {
            agree: here.count(),
            needed: voters.len() * usize::from(percent) / 100 + 1,
        }
    }
}

impl Vote {
    /// Handles the command of the player with this identity. `voters` are the identities of the
    /// humans on teams. The vote passes once more than `percent` of them agree.
    pub(super) fn cast(&mut self, id: &str, voters: &[&str], percent: u8, now: u64) -> Ballot {
        if !voters.contains(&id) {
            return Ballot::NoVoter;
        }
        let began = self.open.is_none();
        if began {
            self.next_of.retain(|_, next| *next > now);
            let own = self.next_of.get(id).copied().unwrap_or(0);
            let next = self.next.max(own);
            if now < next {
                return Ballot::TooEarly((next - now).div_ceil(1_000));
            }
            self.next_of
                .insert(id.to_owned(), now.saturating_add(OWN_PAUSE));
        }
        let vote = self.open.get_or_insert_with(|| OpenVote {
            until: now.saturating_add(OPEN),
            agree: BTreeSet::new(),
        });
        if !vote.agree.insert(id.to_owned()) {
            return Ballot::Repeated;
        }
        let count = vote.count(voters, percent);
        if count.agree >= count.needed {
            self.close(now);
            return Ballot::Passed;
        }
        match began {
            true => Ballot::Began(count),
            false => Ballot::Counted(count),
        }
    }

    /// Ends the vote when its time is over, or when it passes because others have left. Returns
    /// the count, if the vote has ended now.
    fn end_if_due(&mut self, voters: &[&str], percent: u8, now: u64) -> Option<Count> {
        let vote = self.open.as_ref()?;
        let count = vote.count(voters, percent);
        let passes = count.agree >= count.needed;
        (passes || now >= vote.until).then(|| {
            self.close(now);
            count
        })
    }

    /// Ends the vote without an outcome.
    pub(super) fn close(&mut self, now: u64) {
        if self.open.take().is_some() {
            self.next = now.saturating_add(PAUSE);
        }
    }
}

impl Chat {
    /// Handles `!balance`. Returns whether the vote has passed.
    pub(super) fn cast(&mut self, number: usize, game: &ChatGame<'_>, now: u64) -> bool {
        let Some(percent) = self.settings.vote else {
            self.write_to(
                number,
                vec!["players cannot vote on this server".to_owned()],
            );
            return false;
        };
        if !game.can_balance {
            self.write_to(number, vec!["there is no game to balance now".to_owned()]);
            return false;
        }
        let id = game.id_of(number).unwrap_or_default();
        let own = match self.vote.cast(id, &game.voters(), percent, now) {
            Ballot::Began(count) => {
                let (agree, needed) = (count.agree, count.needed);
                self.announce(&format!(
                    "vote to balance the teams again: {agree} of {needed} agree, write !balance to agree, too"
                ));
                return false;
            }
            Ballot::Counted(count) => {
                self.announce(&format!("{} of {} agree", count.agree, count.needed));
                return false;
            }
            Ballot::Passed => {
                self.announce("the vote has passed");
                return true;
            }
            Ballot::Repeated => "you have agreed already".to_owned(),
            Ballot::TooEarly(seconds) => format!("the next vote can begin in {seconds} s"),
            Ballot::NoVoter => "only players on a team can vote".to_owned(),
        };
        self.write_to(number, vec![own]);
        false
    }

    /// Ends the vote if its time is over. Returns whether it has passed.
    pub(super) fn end_vote(&mut self, game: &ChatGame<'_>, now: u64) -> bool {
        let Some(percent) = self.settings.vote else {
            return false;
        };
        let Some(count) = self.vote.end_if_due(&game.voters(), percent, now) else {
            return false;
        };
        let passed = count.agree >= count.needed && game.can_balance;
        self.announce(&match passed {
            true => "the vote has passed".to_owned(),
            false => format!(
                "the vote has failed, {} of {} agreed",
                count.agree, count.needed
            ),
        });
        passed
    }
}

/// The moves for which the daemon seeks volunteers.
#[derive(Debug, Default)]
pub(super) struct OpenOffer {
    steps: Vec<Move>,
    /// When those who were named are moved.
    until: u64,
    /// Whether the players have been asked.
    asked: bool,
    /// Whether those who were named have been warned.
    warned: bool,
}

impl Chat {
    /// The daemon makes this move in this number of seconds, unless others volunteer.
    pub(crate) fn offered(&mut self, step: Move, seconds: u32, now: u64) {
        let offer = &mut self.offer;
        offer.steps.retain(|known| known.id != step.id);
        offer.steps.push(step);
        offer.until = now.saturating_add(u64::from(seconds) * 1_000);
        (offer.asked, offer.warned) = (false, false);
    }

    /// This move of the offer is not made.
    pub(crate) fn withdrawn(&mut self, id: &Ident, why: Withdrawal) {
        let before = self.offer.steps.len();
        self.offer.steps.retain(|step| step.id != *id);
        let was_last = before == 1 && self.offer.steps.is_empty();
        if was_last && why == Withdrawal::Even {
            self.announce("the teams are even now, nobody changes");
        }
    }

    /// The offer has ended, or the connection that made it.
    pub(crate) fn forget_offer(&mut self) {
        self.offer = OpenOffer::default();
        self.volunteers.clear();
    }

    /// Whether players are asked.
    pub(crate) fn is_asking(&self) -> bool {
        !self.offer.steps.is_empty()
    }

    /// Asks the players once the whole offer is known, and later warns those who will be moved.
    pub(super) fn announce_offer(&mut self, game: &ChatGame<'_>, now: u64) {
        if !self.is_asking() {
            return;
        }
        let left = self.offer.until.saturating_sub(now);
        let seconds = left.div_ceil(1_000);
        if !std::mem::replace(&mut self.offer.asked, true) {
            let needs = self.needs();
            self.announce(&format!("{needs}: write !switch within {seconds} s"));
        }
        if left <= MOVE_NOTICE && !std::mem::replace(&mut self.offer.warned, true) {
            let named = self.named(game);
            self.announce(&format!(
                "in {seconds} s {named}, unless others write !switch"
            ));
        }
    }

    /// How many players which team needs, and from which.
    fn needs(&self) -> String {
        let mut ways: Vec<((Option<u8>, u8), usize)> = Vec::new();
        for step in &self.offer.steps {
            let way = (step.from, step.to);
            match ways.iter_mut().find(|(known, _)| *known == way) {
                Some((_, count)) => *count += 1,
                None => ways.push((way, 1)),
            }
        }
        let names = self.team_names;
        let need = |((from, to), count): ((Option<u8>, u8), usize)| {
            let players = if count == 1 { "player" } else { "players" };
            let of = from.map_or(String::new(), |from| {
                format!(" of {}", team_name(names, from))
            });
            format!("{} needs {count} {players}{of}", team_name(names, to))
        };
        ways.into_iter().map(need).collect::<Vec<_>>().join(", ")
    }

    /// Who goes where.
    fn named(&self, game: &ChatGame<'_>) -> String {
        let goes = |step: &Move| {
            let name = game.name_of(step.id.text()).unwrap_or("somebody");
            format!(
                "{} goes to {}",
                plain_name(name),
                team_name(self.team_names, step.to)
            )
        };
        let named: Vec<_> = self.offer.steps.iter().map(goes).collect();
        named.join(", ")
    }

    /// Announces moves that are made now.
    pub(crate) fn announce_moves(&mut self, moves: &[Move], game: &ChatGame<'_>) {
        self.forget_offer();
        self.offer.steps = moves.to_vec();
        let named = self.named(game);
        self.forget_offer();
        self.announce(&format!("{named}, to even the teams"));
    }

    /// Handles `!switch`.
    pub(super) fn volunteer(&mut self, number: usize, game: &ChatGame<'_>, acts: &mut Vec<Act>) {
        let id = game.id_of(number).unwrap_or_default();
        if !self.is_asking() {
            self.write_to(number, vec![announced(SwitchAnswer::NoOffer).to_owned()]);
        } else if !game.voters().contains(&id) {
            self.write_to(number, vec!["only players on a team can change".to_owned()]);
        } else {
            self.volunteers.insert(id.to_owned(), number);
            acts.push(Act::Send(Request::Switch(plain_ident(id))));
        }
    }

    /// Writes the daemon's answer to the volunteer, if they are still there.
    pub(super) fn answer_volunteer(&mut self, id: &Ident, answer: SwitchAnswer) {
        if let Some(number) = self.volunteers.remove(id.text()) {
            self.write_to(number, vec![announced(answer).to_owned()]);
        }
    }
}

/// What a volunteer reads.
fn announced(answer: SwitchAnswer) -> &'static str {
    match answer {
        SwitchAnswer::Taken => "thank you, you change teams now",
        SwitchAnswer::Waits => "thank you, you change teams together with others",
        SwitchAnswer::LessEven => "thank you, but the teams would be less even",
        SwitchAnswer::WrongTeam => "nobody of your team has to change",
        SwitchAnswer::Held => "you have to stay on your team",
        SwitchAnswer::NoOffer => "nobody is asked to change teams now",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR: [&str; 4] = ["a", "b", "c", "d"];

    fn count(agree: usize, needed: usize) -> Count {
        Count { agree, needed }
    }

    #[test]
    fn more_than_half_must_agree() {
        let mut vote = Vote::default();
        assert_eq!(vote.cast("x", &FOUR, 50, 0), Ballot::NoVoter);
        assert_eq!(vote.cast("a", &FOUR, 50, 0), Ballot::Began(count(1, 3)));
        assert_eq!(vote.cast("a", &FOUR, 50, 1), Ballot::Repeated);
        assert_eq!(vote.cast("b", &FOUR, 50, 2), Ballot::Counted(count(2, 3)));
        assert_eq!(vote.end_if_due(&FOUR, 50, 29_999), None);
        assert_eq!(vote.cast("c", &FOUR, 50, 29_999), Ballot::Passed);
        assert_eq!(vote.end_if_due(&FOUR, 50, 99_000), None, "it has ended");
    }

    #[test]
    fn a_vote_ends_and_the_next_one_waits() {
        let mut vote = Vote::default();
        vote.cast("a", &FOUR, 50, 0);
        assert_eq!(vote.end_if_due(&FOUR, 50, 30_000), Some(count(1, 3)));
        assert_eq!(vote.cast("b", &FOUR, 50, 31_000), Ballot::TooEarly(59));
        assert_eq!(
            vote.cast("a", &FOUR, 50, 90_000),
            Ballot::TooEarly(210),
            "once in five minutes"
        );
        assert_eq!(
            vote.cast("b", &FOUR, 50, 90_000),
            Ballot::Began(count(1, 3))
        );
    }

    #[test]
    fn who_leaves_counts_no_more() {
        let mut vote = Vote::default();
        vote.cast("a", &FOUR, 50, 0);
        vote.cast("b", &FOUR, 50, 0);
        assert_eq!(vote.end_if_due(&["b", "c", "d"], 50, 1), None);
        assert_eq!(vote.end_if_due(&["a", "b", "c"], 50, 1), Some(count(2, 2)));
    }

    #[test]
    fn all_may_be_needed() {
        let mut vote = Vote::default();
        for voter in ["a", "b", "c"] {
            assert_ne!(vote.cast(voter, &FOUR, 99, 0), Ballot::Passed);
        }
        assert_eq!(vote.cast("d", &FOUR, 99, 0), Ballot::Passed);
    }
}
