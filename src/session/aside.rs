//! A session for one question, whose game nobody plays: it has no journal, spectators do not see it, and it leaves
//! nothing behind unless its decision is kept. Everything else is decided as in any other session.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{GameJournal, LivePlace, Session, SessionError, Sessions, stated::StatedWeights};
use crate::{
    lobby::{Decision, Weights},
    model::{
        Naming, TeamChances,
        units::{Amount, Count, MaxDifference, PositiveShare, Share},
    },
    partition::{self, ListedWeight, MAX_TOP, SizeLimits},
    store::DecisionRow,
};

/// What a session for one question has besides its game.
#[derive(Debug)]
pub(super) struct Aside {
    /// The weights that the asker has stated.
    pub(super) stated: Arc<StatedWeights>,
    /// How much the teams may differ in size.
    pub(super) limits: SizeLimits,
    /// Which teams are wanted.
    pub(super) wanted: Option<Wanted>,
    /// What the reasons call players and teams.
    pub(super) naming: Naming,
    /// The last decision, with the chance of team 0.
    pub(super) decided: Option<(Decision, Option<f64>)>,
}

/// Teams for people who look at them, and ask for others until they agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The place of the teams by quality, from 0. After the last of [`OTHERS`](Self::OTHERS), or of as many as there are,
    /// it begins anew.
    pub place: u32,
    /// Whether those who avoid each other come apart if that is possible at all, however uneven the teams are then.
    pub apart: bool,
}

impl Wanted {
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
    pub wanted: Option<Wanted>,
    /// What the asker calls the players and the teams.
    pub naming: Naming,
}

impl Session {
    /// A session for one question of an asker.
    pub fn aside(sessions: Arc<Sessions>, stated: StatedByAsker) -> Self {
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
            decided: None,
        }));
        session
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
