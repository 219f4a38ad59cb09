//! Experiments on one's own server: which of two policies picks the teams of each game. An arm is stored before anything
//! depends on it, and is never changed.

use crate::{
    model::Timestamp,
    store::{
        Store, StoreError,
        db::{
            query::{Target, write},
            *,
        },
    },
};

columns! {
    /// An experiment.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ExperimentRow {
        /// Its number.
        pub number: i64,
        /// When it began.
        pub began_at: Timestamp,
        /// When it ended; `None` as long as it goes on.
        pub ended_at: Option<Timestamp>,
        /// Why it ended.
        pub why_ended: Option<String>,
        /// The key of the ruleset.
        pub ruleset: String,
        /// The two policies with all that they inherit, the share and the outcome, as JSON.
        pub settings: String,
        /// A result is one-sided if the second score is at most this share of the first.
        pub one_sided: f64,
        /// The key from which the arms follow: 32 bytes.
        pub secret: Vec<u8>,
    }
}

columns! {
    /// A game of an experiment.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DrawnArm {
        /// Counts the games of the server, or the recorded results of the people.
        pub number: i64,
        /// The number that the decisions of the game have.
        pub game: i64,
        /// `a` or `b`.
        pub arm: String,
    }
}

columns! {
    /// A game of an experiment, and the match that it has become.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ExperimentMatch {
        /// `a` or `b`.
        pub arm: String,
        /// What was known before the arm was drawn, as JSON.
        pub known: String,
        /// The number of the match; `None` of a game that has not become one.
        pub match_id: Option<i64>,
        /// When it ended.
        pub ended_at: Option<Timestamp>,
        /// How it ended, as in [`MatchLine`](super::MatchLine).
        pub outcome: Option<String>,
        /// The team that has won.
        pub winner: Option<i64>,
        /// The score of each team, such as `3:1`.
        pub scores: Option<String>,
        /// The chance of team 0 as the teams were picked.
        pub picked: Option<f64>,
        /// The chance of team 0 as play began.
        pub started: Option<f64>,
        /// Whether it began with other teams than the policy had picked.
        pub changed: bool,
        /// How often somebody left while it was played.
        pub leaves: i64,
        /// The number of its humans.
        pub humans: Option<i64>,
    }
}

/// What asks for an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArmAsker<'a> {
    /// The game of a server.
    Server(&'a str),
    /// A client over HTTP, for the people with this hash.
    Client(&'a str, [u8; 32]),
}

impl ArmAsker<'_> {
    fn text(&self) -> String {
        match self {
            Self::Server(name) => format!("server {name}"),
            Self::Client(name, _) => format!("client {name}"),
        }
    }

    fn people(&self) -> Vec<u8> {
        match self {
            Self::Server(_) => Vec::new(),
            Self::Client(_, people) => people.to_vec(),
        }
    }
}

/// The stored experiments.
#[derive(Clone, Copy, Debug)]
pub struct Experiments<'a>(&'a Store);

impl Store {
    /// The stored experiments.
    pub fn experiments(&self) -> Experiments<'_> {
        Experiments(self)
    }
}

impl Experiments<'_> {
    /// The latest experiments, the newest one first.
    pub async fn latest(self, most: i64) -> Result<Vec<ExperimentRow>, StoreError> {
        let query = tuple("SELECT * FROM experiments ORDER BY number DESC LIMIT $1").bind(most);
        query.fetch_all(&self.0.readers).await
    }

    /// The experiment that goes on; `None` if there is none.
    pub async fn present(self) -> Result<Option<ExperimentRow>, StoreError> {
        let query = tuple(PRESENT);
        query.fetch_optional(&self.0.readers).await
    }

    /// Goes on with the experiment under these settings, or begins it with this key. One under other settings ends.
    pub async fn begin(self, new: ExperimentRow) -> Result<ExperimentRow, StoreError> {
        let mut tx = self.0.begin().await?;
        let present: Option<ExperimentRow> = tuple(PRESENT).fetch_optional(&mut tx).await?;
        if let Some(present) = present {
            if present.ruleset == new.ruleset && present.settings == new.settings {
                tx.commit().await?;
                return Ok(present);
            }
            end(
                &mut tx,
                new.began_at,
                "its settings, or settings that its policies inherit, were changed",
            )
            .await?;
        }
        let row = values![
            new.began_at,
            &new.ruleset,
            &new.settings,
            new.one_sided,
            &new.secret,
        ];
        let written = write(&mut tx, EXPERIMENTS, " RETURNING number", [row].into_iter()).await?;
        let number = written
            .first()
            .ok_or(sqlx::Error::RowNotFound)?
            .get("number")?;
        tx.commit().await?;
        Ok(ExperimentRow { number, ..new })
    }

    /// Ends the experiment that goes on. Returns whether there was one.
    pub async fn end(self, now: Timestamp, why: &str) -> Result<bool, StoreError> {
        let mut tx = self.0.begin().await?;
        let ended = end(&mut tx, now, why).await?;
        tx.commit().await?;
        Ok(ended)
    }

    /// The arm of a game. If none was drawn for it, counts the game, and draws with its number. `None` once the experiment
    /// has ended. All daemons of the database get the same answer.
    pub async fn arm(
        self,
        experiment: i64,
        asker: &ArmAsker<'_>,
        (game, now, known): (i64, Timestamp, &str),
        draw: impl FnOnce(i64) -> &'static str + Send,
    ) -> Result<Option<DrawnArm>, StoreError> {
        let mut tx = self.0.begin().await?;
        let (who, people) = (asker.text(), asker.people());
        let open = "SELECT number, game, arm FROM drawn_arms WHERE experiment = $1 AND asker = $2 AND people = $3
                        AND (game = $4 OR (length(people) > 0 AND match_id IS NULL))
                    ORDER BY number DESC LIMIT 1";
        let open = tuple(open).bind(experiment).bind(&who).bind(people.clone());
        let drawn: Option<DrawnArm> = open.bind(game).fetch_optional(&mut tx).await?;
        if drawn.is_some() {
            tx.commit().await?;
            return Ok(drawn);
        }
        let going_on = scalar(
            "SELECT EXISTS (SELECT 1 FROM experiments WHERE number = $1 AND ended_at IS NULL)",
        );
        let goes_on: bool = going_on.bind(experiment).fetch_one(&mut tx).await?;
        if !goes_on {
            tx.commit().await?;
            return Ok(None);
        }
        let last = "SELECT coalesce(max(number), 0) FROM drawn_arms
                    WHERE experiment = $1 AND asker = $2 AND people = $3";
        let last = scalar(last)
            .bind(experiment)
            .bind(&who)
            .bind(people.clone());
        let number: i64 = last.fetch_one(&mut tx).await?;
        let number = number + 1;
        let arm = draw(number);
        let row = values![
            experiment, &who, people, number, arm, now, known, game, false
        ];
        write(&mut tx, DRAWN, "", [row].into_iter()).await?;
        tx.commit().await?;
        let arm = arm.to_owned();
        Ok(Some(DrawnArm { number, game, arm }))
    }

    /// Notes that a game has begun with other teams than the policy of its arm had picked.
    pub async fn note_changed(self, game: i64) -> Result<(), StoreError> {
        let mut tx = self.0.begin().await?;
        let query = sql("UPDATE drawn_arms SET changed = true WHERE game = $1");
        query.bind(game).execute(&mut tx).await?;
        tx.commit().await
    }

    /// Gives the arm of a game to a later one with another number, which is the same to those who play it.
    pub async fn renumber(self, game: i64, later: i64) -> Result<(), StoreError> {
        let mut tx = self.0.begin().await?;
        let query = sql("UPDATE drawn_arms SET game = $2 WHERE game = $1 AND match_id IS NULL");
        query.bind(game).bind(later).execute(&mut tx).await?;
        tx.commit().await
    }

    /// The scores of the latest rated matches of a ruleset, at most `most`.
    pub async fn scores_of(self, ruleset: &str, most: i64) -> Result<Vec<String>, StoreError> {
        let query = "SELECT m.scores FROM rulings r JOIN matches m ON m.id = r.match_id
                     WHERE r.ruleset = $1 AND r.unrated IS NULL AND m.scores IS NOT NULL
                     ORDER BY m.ended_at DESC LIMIT $2";
        let query = scalar(query).bind(ruleset).bind(most);
        query.fetch_all(&self.0.pages).await
    }

    /// The arms of an experiment, each with who has asked: `server NAME` or `client NAME`.
    pub async fn drawn(self, experiment: i64) -> Result<Vec<(String, DrawnArm)>, StoreError> {
        let query = "SELECT asker, number, game, arm FROM drawn_arms WHERE experiment = $1
                     ORDER BY asker, people, number";
        let rows = sql(query)
            .bind(experiment)
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter()
            .map(|row| Ok((row.get("asker")?, DrawnArm::from_row(row)?)))
            .collect()
    }

    /// The games of an experiment, those that have become matches in the order in which these ended, and then the others.
    pub async fn games(self, experiment: i64) -> Result<Vec<ExperimentMatch>, StoreError> {
        let query = tuple(GAMES).bind(experiment);
        query.fetch_all(&self.0.pages).await
    }
}

async fn end(tx: &mut PooledConnection, now: Timestamp, why: &str) -> Result<bool, StoreError> {
    let query = sql("UPDATE experiments SET ended_at = $1, why_ended = $2 WHERE ended_at IS NULL");
    Ok(query.bind(now).bind(why).execute(tx).await? > 0)
}

const PRESENT: &str =
    "SELECT * FROM experiments WHERE ended_at IS NULL ORDER BY number DESC LIMIT 1";

const GAMES: &str = "SELECT a.arm, a.known, a.changed, m.id AS match_id, m.ended_at, m.outcome, CAST(m.winner AS BIGINT) AS winner,
        m.scores, CAST(m.humans AS BIGINT) AS humans,
        (SELECT c.chance FROM match_chances c WHERE c.match_id = m.id AND c.step = 0) AS picked,
        (SELECT c.chance FROM match_chances c WHERE c.match_id = m.id AND c.step = 1) AS started,
        (SELECT count(*) FROM match_chances c WHERE c.match_id = m.id AND c.cause = 'leave') AS leaves
    FROM drawn_arms a JOIN experiments e ON e.number = a.experiment
    LEFT JOIN matches m ON m.id = coalesce(a.match_id, (SELECT g.id FROM matches g WHERE g.game = a.game))
        AND EXISTS (SELECT 1 FROM rulings r WHERE r.match_id = m.id AND r.ruleset = e.ruleset)
    WHERE a.experiment = $1
    ORDER BY m.ended_at IS NULL, m.ended_at, m.fingerprint, a.number, a.asker, a.people";

const EXPERIMENTS: Target = Target::new(
    "experiments",
    "began_at, ruleset, settings, one_sided, secret",
);

const DRAWN: Target = Target::new(
    "drawn_arms",
    "experiment, asker, people, number, arm, drawn_at, known, game, changed",
);
