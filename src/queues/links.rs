//! The connections of instances: the one that sent INSTANCE, and those that have the games of matches.

use std::collections::BTreeMap;

use super::{Link, instance_command::InstanceCommand};
use crate::{
    domain::{MatchId, Timestamp},
    lifecycle::{Lifecycle, Offer},
};

/// The connections of all instances.
#[derive(Debug, Default)]
pub(super) struct Links {
    instances: BTreeMap<String, (Offer, Link)>,
    games: BTreeMap<MatchId, OpenGame>,
}

/// The connection that has the game of a match.
#[derive(Debug)]
struct OpenGame {
    instance: String,
    game: i64,
    link: Link,
}

impl Links {
    /// An instance has connected.
    pub fn join(&mut self, offer: Offer, link: Link) {
        self.instances.insert(offer.name.clone(), (offer, link));
    }

    /// A connection of an instance has the game of a match, which has this number.
    pub fn host(&mut self, id: MatchId, instance: String, game: i64, link: Link) {
        let open = OpenGame {
            instance,
            game,
            link,
        };
        self.games.insert(id, open);
    }

    /// Forgets the connections that are closed.
    pub fn prune(&mut self) {
        self.instances.retain(|_, (_, link)| link.is_open());
        self.games.retain(|_, open| open.link.is_open());
    }

    /// What the instances with open connections have last asked for, as they would ask for it again.
    pub fn asked(&self) -> impl Iterator<Item = InstanceCommand> {
        let joined = self.instances.values().map(|(offer, link)| {
            let offer = Box::new(offer.clone());
            InstanceCommand::Join(offer, link.clone())
        });
        let opened = self.games.iter().map(|(id, open)| InstanceCommand::Opened {
            name: open.instance.clone(),
            id: *id,
            game: open.game,
            link: open.link.clone(),
            plans: false,
        });
        joined.chain(opened)
    }

    /// Reports which connections are open, after a restart.
    pub fn rejoin(&mut self, life: &mut Lifecycle) {
        self.prune();
        for command in self.asked() {
            let done = match command {
                InstanceCommand::Join(offer, _) => life.joined(*offer),
                InstanceCommand::Opened { name, id, game, .. } => life.opened(&name, id, game),
                _ => Ok(()),
            };
            if let Err(error) = done {
                tracing::debug!(%error, "an instance does not host what it did");
            }
        }
    }

    /// Reports when the instances sent their last lines. `time` turns milliseconds of the
    /// clock into a time.
    pub fn hear(&self, life: &mut Lifecycle, time: impl Fn(u64) -> Timestamp) {
        for (name, (_, link)) in &self.instances {
            if link.is_open() {
                life.alive(name, time(link.heard()));
            }
        }
    }

    /// Reports which connections are lost, and when the others sent their last line.
    /// `time` turns milliseconds of the clock into a time.
    pub fn watch(&mut self, life: &mut Lifecycle, time: impl Fn(u64) -> Timestamp) {
        self.instances.retain(|name, (offer, link)| {
            let open = link.is_open();
            let heard = time(link.heard());
            match open {
                // The instance was removed after a long silence, and a line has come since.
                true if !life.knows(name) && life.is_recent(heard) => {
                    let joined = life.joined(offer.clone());
                    tracing::debug!(name, ?joined, "an instance is back");
                }
                true => life.alive(name, heard),
                false => life.lost(name),
            }
            open
        });
        self.games.retain(|id, open_game| {
            let over = life
                .hosted(*id)
                .is_none_or(|hosted| hosted.stage.is_final());
            let open = open_game.link.is_open();
            if !open && !over {
                life.parted(*id);
            }
            open && !over
        });
    }

    /// The connection that has the game of a match, if there is one.
    pub fn of_game(&self, id: MatchId) -> Option<Link> {
        self.games.get(&id).map(|open| open.link.clone())
    }

    /// The connection of an instance, if it is connected.
    pub fn of_instance(&self, instance: &str) -> Option<Link> {
        self.instances.get(instance).map(|(_, link)| link.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };

    use super::*;
    use crate::{queues::Expected, session::Mailbox};

    #[test]
    fn a_line_that_came_while_the_daemon_stalled_counts() {
        let mut life = Lifecycle::default();
        let name = "a".to_owned();
        let offer = Offer {
            name,
            slots: 1,
            ..Offer::default()
        };
        life.joined(offer.clone()).unwrap();
        let heard = Arc::new(AtomicU64::new(0));
        let mut links = Links::default();
        let (mailbox, _receiver) = Mailbox::new();
        let link = Link::new(mailbox, Expected::default(), heard.clone());
        links.join(offer, link);
        // Nothing happens for a minute, in which the instance has sent a line.
        heard.store(55_000, Ordering::Relaxed);
        let time = |millis: u64| Timestamp(millis as i64);
        links.hear(&mut life, time);
        life.at(Timestamp(60_000));
        assert!(life.instances().all(|one| one.away.is_none()));
        // Without a line, it is silent for too long half a minute after the last one.
        links.hear(&mut life, time);
        life.at(Timestamp(84_999));
        assert!(life.instances().all(|one| one.away.is_none()));
        life.at(Timestamp(85_000));
        assert!(life.instances().all(|one| one.away.is_some()));
    }
}
