//! Offers: the chat asks who changes teams, warns those who will be moved otherwise, and passes on `!switch`.

use super::{
    Chat, ChatGame,
    answers::{plain_name, team_name},
};
use crate::{Act, link::plain_ident};
use evenkeel_model::{Ident, MOVE_NOTICE, Move, SwitchAnswer, Withdrawal};
use evenkeel_protocol::Request;

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
