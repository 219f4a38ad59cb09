//! A player's entry in the daemon's roster, and the requests that keep it up to date.

use super::link::{name_ident, plain_ident};
use evenkeel_model::{ident::Ident, record::LeaveReason, team_names::RoleName};
use evenkeel_protocol::{Request, request::Join};

/// A player in the daemon's roster.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RosterEntry {
    /// The identity in the daemon's roster; no two entries share one.
    pub(super) id: String,
    /// The identity in the log, which two players can share.
    key: String,
    name: String,
    /// Whether the player was sent with JOIN; otherwise with BOTJOIN.
    pub(super) joined: bool,
    /// The team that was last received from the daemon, or sent to it.
    pub(super) team: Option<u8>,
    /// Whether the sidecar has asked the daemon for the team, and has no reply yet. Until then it does not
    /// send the player's actual team, which would replace the daemon's choice.
    pub(super) placing: bool,
    /// Whether the game server was ordered to remove the player, perhaps to add a bot again on the other team.
    pub(super) removed: bool,
    /// The role that was last sent to the daemon.
    role: Option<RoleName>,
}

/// What the daemon's roster should contain about one player.
#[derive(Clone, Debug)]
pub(super) struct RosterUpdate {
    /// The identity in the log.
    pub(super) key: String,
    pub(super) name: String,
    /// Whether the player takes part in the game.
    pub(super) plays: bool,
    /// Whether the player is sent with JOIN; otherwise with BOTJOIN.
    pub(super) joined: bool,
    /// The team; `None` in games without teams.
    pub(super) team: Option<u8>,
    /// What the player plays as.
    pub(super) role: Option<RoleName>,
    /// Whether a new player is sent without a team.
    pub(super) unplaced: bool,
    /// Whether a player who is in the roster keeps their team there for now.
    pub(super) keep_team: bool,
}

impl RosterEntry {
    /// Updates an entry, which is `None` while the player is not in the daemon's roster. Returns the
    /// requests that do the same in the daemon. `free_id` turns the identity in the log into one that no
    /// other entry has.
    pub(super) fn update(
        entry: &mut Option<Self>,
        update: RosterUpdate,
        free_id: impl FnOnce(&str) -> String,
    ) -> Vec<Request> {
        let mut requests = Vec::new();
        if let Some(known) = entry {
            if update.plays && known.key == update.key && known.joined == update.joined {
                return known.change(update);
            }
            requests.push(known.leave());
            *entry = None;
        }
        if update.plays {
            let role = update.role;
            let mut new = Self {
                id: free_id(&update.key),
                key: update.key,
                name: update.name,
                joined: update.joined,
                team: update.team.filter(|_| !update.unplaced),
                placing: false,
                removed: false,
                role: None,
            };
            requests.push(new.join());
            requests.extend(new.play_as(role));
            *entry = Some(new);
        }
        requests
    }

    /// The player's identity in requests.
    pub(super) fn ident(&self) -> Ident {
        Ident::from_text(&self.id)
    }

    /// The request that removes this entry.
    pub(super) fn leave(&self) -> Request {
        match self.joined {
            true => Request::Leave {
                id: self.ident(),
                reason: match self.removed {
                    true => LeaveReason::Kicked,
                    false => LeaveReason::Left,
                },
            },
            false => Request::BotLeave(self.ident()),
        }
    }

    /// The request that adds this entry.
    fn join(&self) -> Request {
        if !self.joined {
            return Request::BotJoin {
                name: self.ident(),
                // In a game without teams, the daemon counts bots on the first team.
                team: self.team.unwrap_or(0),
            };
        }
        let mut join = Join::new(self.ident());
        join.name = Some(name_ident(&self.name));
        join.team = self.team;
        Request::Join(join)
    }

    /// Updates the name and the team. Returns the requests that do it.
    fn change(&mut self, update: RosterUpdate) -> Vec<Request> {
        let mut requests = Vec::new();
        if self.name != update.name {
            if self.joined {
                let mut join = Join::new(self.ident());
                join.name = Some(name_ident(&update.name));
                requests.push(Request::Join(join));
            }
            self.name = update.name;
        }
        if let Some(team) = update.team
            && self.team != Some(team)
            && !update.keep_team
            && !self.placing
        {
            self.team = Some(team);
            let id = self.ident();
            requests.push(match self.joined {
                true => Request::Move { id, team },
                false => Request::BotJoin { name: id, team },
            });
        }
        requests.extend(self.play_as(update.role));
        requests
    }

    /// The request that states another role. The daemon knows none of bots.
    fn play_as(&mut self, role: Option<RoleName>) -> Option<Request> {
        let is_news = self.joined && self.role != role;
        self.role = role.clone();
        let id = self.ident();
        is_news.then_some(Request::Role { id, role })
    }
}

/// Turns the identity in the log into one that is not `taken`, by a number after it. Two bots can have the
/// same name, and two humans the same identity.
pub(super) fn free_id<'a>(key: &str, taken: impl Iterator<Item = &'a str> + Clone) -> String {
    let text = |key: &str| plain_ident(key).text().to_owned();
    let mut id = text(key);
    let mut copy = 1;
    while taken.clone().any(|other| other == id) {
        copy += 1;
        id = text(&format!("{key} ({copy})"));
    }
    id
}
