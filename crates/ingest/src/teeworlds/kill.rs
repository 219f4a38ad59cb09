//! The line of a kill, which has two names.

use super::named::{Named, Seen, find, slot, team};
use crate::text::{LineResult, number};

/// A kill. The names are read later, because a name may look like the text between two names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill<'a> {
    /// The number of the killer; `None` if nobody killed.
    pub(crate) killer: Option<usize>,
    team: i64,
    /// What follows the killer's team: `name' victim='NUMBER:TEAM:name`.
    names: &'a [u8],
    /// Whether the game itself removed the victim, who changed teams or left.
    pub(crate) by_game: bool,
}

impl<'a> Kill<'a> {
    /// Reads `killer='NUMBER:TEAM:name' victim='NUMBER:TEAM:name' weapon=W special=S`.
    pub(super) fn read(text: &'a [u8]) -> LineResult<Self> {
        const WEAPON_GAME: i64 = -3;
        let rest = text.strip_prefix(b"killer='").ok_or("no killer")?;
        let (killer, rest) = number(rest).ok_or("the killer has no number")?;
        let rest = rest.strip_prefix(b":").ok_or("the killer has no team")?;
        let (team, rest) = number(rest).ok_or("the killer has no team")?;
        let rest = rest.strip_prefix(b":").ok_or("the killer has no name")?;
        let end = rest.iter().rposition(|&b| b == b'\'');
        let end = end.ok_or("the victim's name has no end")?;
        let weapon = rest[end + 1..].strip_prefix(b" weapon=");
        let (weapon, _) = weapon.and_then(number).ok_or("the weapon is no number")?;
        Ok(Self {
            killer: usize::try_from(killer).ok(),
            team,
            names: &rest[..end],
            by_game: weapon == WEAPON_GAME,
        })
    }

    /// The killer, if anybody, and the victim. `known` is the killer's name, if an earlier line has stated it.
    ///
    /// # Errors
    /// Returns what is wrong with the line.
    pub(crate) fn of(&self, known: Option<&[u8]>) -> LineResult<(Option<Seen<'a>>, Seen<'a>)> {
        const BETWEEN: &[u8] = b"' victim='";
        let known = known.filter(|known| {
            let rest = self.names.strip_prefix(*known);
            rest.is_some_and(|rest| rest.starts_with(BETWEEN))
        });
        let end = known.map(<[u8]>::len).or_else(|| find(self.names, BETWEEN));
        let end = end.ok_or("no victim")?;
        let (name, rest) = (&self.names[..end], &self.names[end + BETWEEN.len()..]);
        let (victim, rest) = slot(rest)?;
        let (team_of_victim, rest) = number(rest).ok_or("the victim has no team")?;
        let victims_name = rest.strip_prefix(b":").ok_or("the victim has no name")?;
        let killer = match self.killer {
            Some(slot) => Some(Seen {
                who: Named { slot, name },
                team: team(self.team)?,
            }),
            None => None,
        };
        let who = Named {
            slot: victim,
            name: victims_name,
        };
        let team = team(team_of_victim)?;
        Ok((killer, Seen { who, team }))
    }
}
