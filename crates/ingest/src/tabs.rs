//! Lines of fields between tabs, as both Unreal Tournament logs have them: seconds, a kind of event,
//! and its arguments.

use super::{
    clock::LogClock,
    format::{Context, StrayPlay},
    text::{LineResult, real, whole_number},
};

/// The most points of a score, positive or negative. Larger numbers are errors in a log.
const MAX_POINTS: f64 = 1e6;

/// The state of a parser of such a log, which contains games of type `G` one after the other.
pub(super) struct TabParser<G> {
    pub(super) server: String,
    pub(super) clock: LogClock,
    /// The game being read.
    pub(super) game: Option<Box<G>>,
    pub(super) stray: StrayPlay,
}

impl<G> TabParser<G> {
    pub(super) fn new(context: &Context) -> Self {
        Self {
            server: context.server.clone(),
            clock: LogClock::default(),
            game: None,
            stray: StrayPlay::default(),
        }
    }
}

/// The fields of a line after its time.
#[derive(Clone)]
pub(super) struct TabFields<'a>(std::slice::Split<'a, u8, fn(&u8) -> bool>);

impl<'a> TabFields<'a> {
    pub(super) fn of(rest: &'a [u8]) -> Self {
        Self(rest.split(|&b| b == b'\t'))
    }

    /// Takes the next field.
    pub(super) fn next(&mut self) -> LineResult<&'a [u8]> {
        self.0.next().ok_or("a field is missing")
    }

    /// Takes fields up to the first that begins with `prefix`, and returns the rest of that one.
    pub(super) fn find(&mut self, prefix: &[u8]) -> Option<&'a [u8]> {
        self.0.find_map(|field| field.strip_prefix(prefix))
    }

    /// Takes a player's number.
    pub(super) fn player(&mut self) -> LineResult<u32> {
        let player = self.player_or_none()?;
        player.ok_or("a player's number is missing")
    }

    /// Takes a player's number; -1 stands for none.
    pub(super) fn player_or_none(&mut self) -> LineResult<Option<u32>> {
        let number = whole_number(self.next()?).ok_or("a player's number is missing")?;
        match u32::try_from(number) {
            Ok(number) => Ok(Some(number)),
            Err(_) if number == -1 => Ok(None),
            Err(_) => Err("a player's number is negative"),
        }
    }

    /// Takes the number of one of `teams` teams. Any other number, such as 255, stands for no team.
    pub fn team(&mut self, teams: usize) -> LineResult<Option<u8>> {
        let team = whole_number(self.next()?).ok_or("a team's number is missing")?;
        let team = u8::try_from(team).ok();
        Ok(team.filter(|&team| usize::from(team) < teams))
    }

    /// Takes points, which may be negative.
    pub(super) fn points(&mut self) -> LineResult<f64> {
        let points = real(self.next()?).filter(|points| points.abs() < MAX_POINTS);
        points.ok_or("points are missing")
    }

    /// Takes a truth value.
    pub(super) fn is_true(&mut self) -> LineResult<bool> {
        Ok(self.next()?.eq_ignore_ascii_case(b"true"))
    }
}
