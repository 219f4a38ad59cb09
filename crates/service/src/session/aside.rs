//! What clients ask and report without a game that a session follows.
//!
//! - A session for one question, whose game nobody plays: it has no journal, spectators do not see it, and it leaves
//!   nothing behind unless its decision is kept. Everything else is decided as in any other session.
//! - The steps of pick-up matches, and what is learned from their results.
//! - Reports about games that no session has followed: finished matches, and how players behave.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use sha2::{Digest, Sha256};

use super::{
    CoreTurn, GameJournal, LivePlace, Reporter, Session, SessionError, Sessions,
    weights::StatedWeights,
};
use crate::{
    learning::ANYONE,
    lobby::{Decision, LobbyError, Weights},
    matchmaking::lifecycle::PickupEvent,
    model::{
        MatchRecord, Timestamp,
        behaviour::BehaviourDay,
        fingerprint::Fingerprint,
        ident::Ident,
        match_chances::{MatchChances, TeamChances},
        team_names::Naming,
        units::{Amount, Count, MaxDifference, PositiveShare, Share},
    },
    partition::{self, problem::SizeLimits, settings::MAX_TOP, stated::ListedWeight},
    random,
    store::{ChangedPickup, DecisionRow, Receipt, Reported, ReportedMatch},
};

/// What a session for one question has besides its game.
#[derive(Debug)]
pub(super) struct Aside {
    /// The weights that the asker has stated.
    pub(super) stated: Arc<StatedWeights>,
    /// How much the teams may differ in size.
    pub(super) limits: SizeLimits,
    /// Which teams are wanted.
    pub(super) wanted: Option<WantedTeams>,
    /// What the reasons call players and teams.
    pub(super) naming: Naming,
    /// The turn in which it is prepared, answered and explained.
    pub(super) turn: Option<CoreTurn>,
    /// The last decision, with the chance of team 0.
    pub(super) decided: Option<(Decision, Option<f64>)>,
}

/// Teams for people who look at them, and ask for others until they agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WantedTeams {
    /// The place of the teams by quality, from 0. After the last of [`OTHERS`](Self::OTHERS), or of as many as there are,
    /// it begins anew.
    pub place: u32,
    /// Whether those who avoid each other come apart if that is possible at all, however uneven the teams are then.
    pub apart: bool,
}

impl WantedTeams {
    /// Among how many of the most even teams these are.
    pub const OTHERS: u32 = 100;
    /// So much costs a pair that comes together against its will: no other term is as large.
    const FORBIDDEN: Amount = Amount::of(1_000.0);

    /// The settings that find these teams. Parties stay together if that is possible at all.
    pub(super) fn steer(self, settings: &mut partition::Settings) {
        settings.wanted = Some(self.place);
        settings.party_budget = const { Share::of(1.0) };
        settings.top = const { Count::of(Self::OTHERS) };
        if self.apart {
            settings.factors.avoided_pairs = Self::FORBIDDEN;
            settings.top = const { Count::of(MAX_TOP) };
        }
    }
}

/// What an asker knows better than the configuration.
#[derive(Clone, Debug, Default)]
pub struct StatedByAsker {
    /// The weights of humans, by identity.
    pub weights: BTreeMap<String, f64>,
    /// The humans of whom the asker must not learn anything: they count as if nobody knew them.
    pub hidden: BTreeSet<String>,
    /// The largest share of the humans on one team.
    pub max_share: Option<PositiveShare>,
    /// The largest difference between the numbers of humans on two teams.
    pub max_difference: Option<MaxDifference>,
    /// Which teams are wanted; `None` for those that a game server would get.
    pub wanted: Option<WantedTeams>,
    /// What the asker calls the players and the teams.
    pub naming: Naming,
}

impl Session {
    /// A session for one question of an asker, who has this turn until the session is dropped.
    pub fn aside(sessions: Arc<Sessions>, stated: StatedByAsker, turn: CoreTurn) -> Self {
        let mut session = Self::new(sessions);
        let state = &mut session.state;
        state.journal = GameJournal::default();
        state.live = LivePlace::new(&Arc::default());
        state.lobby = state.rules.lobby();
        let limits = state.rules.settings.balance.limits;
        session.aside = Some(Box::new(Aside {
            stated: Arc::new(StatedWeights {
                weights: stated.weights,
                hidden: stated.hidden,
                unknown: None,
            }),
            limits: SizeLimits {
                max_team_share: stated.max_share.unwrap_or(limits.max_team_share),
                max_difference: stated.max_difference.unwrap_or(limits.max_difference),
            },
            wanted: stated.wanted,
            naming: stated.naming,
            turn: Some(turn),
            decided: None,
        }));
        session
    }

    /// Ends the turn of a session for one question, which has been answered and explained.
    pub fn end_turn(&mut self) {
        if let Some(aside) = &mut self.aside {
            aside.turn = None;
        }
    }

    /// The last decision of a session for one question.
    pub fn decided(&self) -> Option<&Decision> {
        let (decision, _) = self.aside.as_ref()?.decided.as_ref()?;
        Some(decision)
    }

    /// The chances of the teams that BALANCE has picked.
    pub fn picked(&self) -> Option<TeamChances> {
        self.state.lobby.chance_summary().picked
    }

    /// Stores the last decision of a session for one question, made for a client. Returns its number; `None` if
    /// decisions are not stored.
    pub async fn keep(&mut self, client: &str) -> Result<Option<i64>, SessionError> {
        let keep = self.sessions.settings.keep_decisions;
        let decided = self.aside.as_mut().and_then(|aside| aside.decided.take());
        let Some((decision, chance)) = decided.filter(|_| keep > 0) else {
            return Ok(None);
        };
        let row = self
            .decision_row(&decision, chance)?
            .map(|row| DecisionRow {
                server: client.to_owned(),
                ..row
            });
        let Some(row) = row else { return Ok(None) };
        Ok(Some(
            self.sessions.store.decisions().keep_decision(&row).await?,
        ))
    }
}

/// The weight with which a decision counts a human.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountedWeight {
    /// The weight: 0 to 100, or an amount on the scale of stated weights.
    pub weight: f64,
    /// Its standard deviation; `None` for somebody unknown, 0 for a stated weight.
    pub deviation: Option<f64>,
    /// Whether anything is known of the human, or the asker has stated the weight.
    pub known: bool,
    /// Whether the weight is one that the asker has stated, or the mean of these.
    pub stated: bool,
}

impl Session {
    /// The weights with which decisions count these humans in this game.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn counted(&mut self, ids: &[&str]) -> Result<Vec<CountedWeight>, SessionError> {
        let weights = self.present_weights()?;
        let of = |id: &&str| {
            let facts = || weights.view.facts(id).map(|facts| facts.deviation);
            let listed = weights.listed(id);
            CountedWeight {
                weight: weights.human(id),
                deviation: match listed {
                    ListedWeight::Stated(_) => Some(0.0),
                    ListedWeight::Learned => facts(),
                    ListedWeight::Unknown => None,
                },
                known: listed != ListedWeight::Unknown,
                stated: weights.are_amounts() || matches!(listed, ListedWeight::Stated(_)),
            }
        };
        Ok(ids.iter().map(of).collect())
    }
}

impl Sessions {
    /// Applies an event to a pick-up match of a client. If it has a result then, it is recorded as `result`. All of it is
    /// on disk when this returns; the background task learns from it later.
    ///
    /// # Errors
    /// Fails if the record is not valid, or if the database does.
    pub async fn change_pickup(
        self: &Arc<Self>,
        client: &str,
        id: &str,
        event: PickupEvent,
        result: Option<Report>,
    ) -> Result<ChangedPickup, SessionError> {
        let (sessions, client, id) = (self.clone(), client.to_owned(), id.to_owned());
        // A task of its own, which completes even if the caller is dropped: what is on disk is also learned from.
        let changing = async move {
            let now = sessions.clock.now();
            let result = result.map(|report| sessions.reported(&client, report, now));
            let reports = result.as_slice();
            sessions
                .check_reported(&client, Reporter::Person, reports)
                .await?;
            let store = &sessions.store;
            let changed = store
                .change_pickup(&client, &id, event, now, result.as_ref())
                .await?;
            if let (ChangedPickup::Done(_, true), Some(result)) = (&changed, &result) {
                sessions.learn_of(&client, std::slice::from_ref(result));
            }
            Ok(changed)
        };
        self.tasks().spawn(changing).await?
    }
}

/// A finished match that a client reports.
#[derive(Clone, Debug)]
pub struct Report {
    /// The record of the match.
    pub record: MatchRecord,
    /// The keys under which it is known if it is sent again.
    pub keys: Vec<Receipt>,
    /// What was predicted of its teams.
    pub chances: MatchChances,
    /// The number of the decision that picked its teams.
    pub decision: Option<i64>,
}

impl Sessions {
    /// Records matches that a client reports, all or none. They are on disk when this returns; the background task
    /// learns from them later.
    ///
    /// # Errors
    /// Fails if a share of the client is used up, if a record is not valid, or if the database fails.
    pub async fn record_reported(
        self: &Arc<Self>,
        client: &str,
        reporter: Reporter,
        reports: Vec<Report>,
    ) -> Result<Reported, SessionError> {
        let (sessions, client) = (self.clone(), client.to_owned());
        // A task of its own, which completes even if the caller is dropped: what is on disk is also learned from.
        let recording = async move {
            let now = sessions.clock.now();
            let matches: Vec<ReportedMatch> = reports
                .into_iter()
                .map(|report| sessions.reported(&client, report, now))
                .collect();
            let mut room = sessions.enter_unlearned(&client, &matches).await?;
            let recorded = sessions.store_reported(&client, reporter, &matches).await;
            if let Ok(Reported::Recorded(_)) = recorded {
                room.learned_by = Some(sessions.learning.next_pass());
                sessions.learn_of(&client, &matches);
            }
            recorded
        };
        self.tasks().spawn(recording).await?
    }

    async fn store_reported(
        &self,
        client: &str,
        reporter: Reporter,
        matches: &[ReportedMatch],
    ) -> Result<Reported, SessionError> {
        let counted = self.check_reported(client, reporter, matches).await?;
        let store = self.store.matches();
        let recorded = store
            .record_reported(client, self.clock.now(), matches)
            .await;
        if !matches!(recorded, Ok(Reported::Recorded(_))) {
            self.take_back(client, &counted);
        }
        Ok(recorded?)
    }

    /// A match as it is stored.
    pub(super) fn reported(&self, client: &str, report: Report, now: Timestamp) -> ReportedMatch {
        ReportedMatch {
            unrated: self.unrated(&report.record),
            fingerprint: fingerprint(client, &report.keys, now),
            record: report.record,
            keys: report.keys,
            chances: report.chances,
            decision: report.decision,
        }
    }

    /// Lets the background task learn from matches that are on disk.
    fn learn_of(&self, client: &str, matches: &[ReportedMatch]) {
        for one in matches {
            self.learning.note_late(client, one.record.end);
            self.metrics.recorded.count();
            self.learning.note_participants(&one.record);
        }
        self.learning.match_recorded();
    }

    /// Stores a report about how a human behaves, of a game server of this name. When this returns, it is on disk.
    /// `client` is the configured client that has sent it.
    ///
    /// # Errors
    /// Fails if this game server may not report, or has reported too often, if `points` are more than a report may have,
    /// or if the database fails.
    pub async fn report_behaviour(
        &self,
        server: &str,
        client: Option<&str>,
        id: &Ident,
        points: f64,
    ) -> Result<(), SessionError> {
        if id.is_nobody() {
            return Err(LobbyError::SharedId.into());
        }
        let book = self.learning.behaviour();
        let now = self.clock.now();
        let report = BehaviourDay::report(id.text(), client.unwrap_or(ANYONE), points, now);
        Ok(book.report(server, report).await?)
    }
}

/// The fingerprint of a match that a client reports. Two matches with the same players and result are two matches, so
/// it is made of the client and its keys, and of a random number without any. Keys are forgotten after a time; so it
/// also depends on when the match is recorded.
fn fingerprint(client: &str, keys: &[Receipt], now: Timestamp) -> Fingerprint {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(b"evenkeel reported match 1");
    add(client.as_bytes());
    keys.iter().for_each(|receipt| add(receipt.key.as_bytes()));
    add(&now.0.to_le_bytes());
    if keys.is_empty() {
        // If the system has no randomness, the time of the match still tells it from others.
        add(&random::bytes::<16>().unwrap_or_default());
    }
    let mut short = [0; 16];
    short.copy_from_slice(&hash.finalize()[..16]);
    Fingerprint(short)
}
