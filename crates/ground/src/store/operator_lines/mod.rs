//! What `evenkeel export --operator` writes beside the records of the matches: all else that a database contains and
//! that cannot be derived from them. Each kind of line has a struct here, and the field `kind` names it.
//!
//! Times of day are milliseconds since 1970 UTC, and bytes are hexadecimal.

pub(in crate::store) mod rows;

use serde::{Deserialize, Serialize};

use crate::{
    ingest::jsonl::write_record,
    model::{
        Kind, MatchRecord, PlayerKey, Timestamp, fingerprint::Fingerprint, names::escaped_json,
    },
    store::{
        StoreError, StoredMatch,
        db::{At, FromColumn, Row, SqlValue, columns},
        shown::Bytes,
    },
};

/// The version of these lines.
pub const FORMAT: u32 = 1;

/// A part of the content of a database.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentPart {
    /// A line of its own.
    Line(OperatorLine),
    /// A match, and what is known beside its record.
    Match(Box<(MatchHead, MatchRecord)>),
}

impl ContentPart {
    /// The line, or the two lines of a match, without the end of the last one.
    ///
    /// # Errors
    /// Fails if a line has no form in JSON.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        let (head, record) = match self {
            Self::Line(line) => return Ok(escaped_json(serde_json::to_string(line)?)),
            Self::Match(one) => &**one,
        };
        let line = serde_json::to_string(&OperatorLine::Match(Box::new(head.clone())))?;
        let print = Fingerprint::from_slice(&head.fingerprint.0);
        let print = print.unwrap_or_else(|| Fingerprint::of(record));
        let line = escaped_json(line);
        Ok(format!("{line}\n{}", write_record(record, print)))
    }
}

/// A line that is not a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum OperatorLine {
    /// The first line.
    Export(ExportLine),
    /// Up to which number each thing has one.
    Numbers(NumbersLine),
    /// The key of the handles.
    HandleKey(HandleKeyLine),
    /// An identity that counts as another one.
    Merge(MergeLine),
    /// A player with a fixed weight.
    Pin(PinLine),
    /// A player who does not start as a newcomer.
    StartWeight(StartWeightLine),
    /// A player whom the pages do not show.
    Hidden(HiddenLine),
    /// A match, or a half of one, that does not count.
    Void(VoidLine),
    /// A player who was forgotten lately.
    Forgotten(ForgottenLine),
    /// A notice that a correction has moved a weight.
    Recount(RecountLine),
    /// A claim that an identity is that of a player.
    Link(LinkLine),
    /// What one reporter has reported about one player in one day.
    Behaviour(BehaviourLine),
    /// How far a webhook is.
    Webhook(WebhookLine),
    /// An event that may wait for a webhook.
    Event(EventLine),
    /// A key under which a client has recorded a match.
    Receipt(ReceiptLine),
    /// A browser that may record for a client.
    SignIn(SignInLine),
    /// A pick-up match.
    Pickup(PickupLine),
    /// An experiment.
    Experiment(ExperimentLine),
    /// A game of an experiment.
    Arm(ArmLine),
    /// What the record of the match on the next line does not contain.
    Match(Box<MatchHead>),
    /// The last line: without it, the file is not whole.
    End(EndLine),
}

/// The first line of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportLine {
    /// The version of the lines.
    pub format: u32,
    /// The version of Evenkeel that has written them.
    pub version: String,
}

impl ExportLine {
    /// That of this program.
    pub(super) fn own() -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// The last numbers that were given. None is given twice, also if what had it is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumbersLine {
    /// Of matches, also of those of queues that were never played.
    pub matches: i64,
    /// Of decisions.
    pub decisions: i64,
    /// Of events.
    pub events: i64,
    /// Of experiments.
    #[serde(default, skip_serializing_if = "is_none_yet")]
    pub experiments: i64,
    /// Of changes by operators. A player who is forgotten gets the identity `forgotten-` with such a number.
    pub changes: i64,
}

fn is_none_yet(last: &i64) -> bool {
    *last == 0
}

/// A number with a fraction. JSON has no infinite ones, and -0 is 0, as SQLite stores it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Number(pub f64);

impl FromColumn<'_> for Number {
    fn read(row: &Row, at: At<'_>) -> Result<Self, StoreError> {
        let number: f64 = FromColumn::read(row, at)?;
        let finite = number.is_finite().then_some(Self(number + 0.0));
        finite.ok_or_else(|| StoreError::bad("number", &number.to_string()))
    }
}

impl FromColumn<'_> for Option<Number> {
    fn read(row: &Row, at: At<'_>) -> Result<Self, StoreError> {
        let number: Option<f64> = FromColumn::read(row, at)?;
        number.map(|_| Number::read(row, at)).transpose()
    }
}

/// A player: the columns `kind` and `player`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whom {
    /// The identity.
    pub player: String,
    /// Whether it is that of a bot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bot: bool,
}

impl Whom {
    /// Whether it is a human or a bot.
    pub fn kind(&self) -> Kind {
        match self.bot {
            true => Kind::Bot,
            false => Kind::Human,
        }
    }

    /// The player.
    pub(super) fn key(&self) -> PlayerKey {
        PlayerKey {
            kind: self.kind(),
            id: self.player.clone(),
        }
    }
}

impl FromColumn<'_> for Whom {
    fn read(row: &Row, _: At<'_>) -> Result<Self, StoreError> {
        let key = row.player()?;
        Ok(Self {
            player: key.id,
            bot: key.kind == Kind::Bot,
        })
    }
}

impl FromColumn<'_> for Option<Whom> {
    fn read(row: &Row, at: At<'_>) -> Result<Self, StoreError> {
        let player: Option<&str> = row.get("player")?;
        player.map(|_| Whom::read(row, at)).transpose()
    }
}

/// Whether a weight is on the scale of Evenkeel 0.1: only in files of 0.2. No column has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Former(pub bool);

impl Former {
    fn is_not(&self) -> bool {
        !self.0
    }
}

impl FromColumn<'_> for Former {
    fn read(_: &Row, _: At<'_>) -> Result<Self, StoreError> {
        Ok(Self(false))
    }
}

/// The columns of a row, each with its value.
pub(super) type Cells = Vec<(&'static str, SqlValue)>;

/// What a field of a line is in its row.
trait Field {
    fn add(&self, column: &'static str, cells: &mut Cells);
}

macro_rules! fields {
    ($($type:ty: $own:ident => $value:expr;)+) => {$(
        impl Field for $type {
            fn add(&self, column: &'static str, cells: &mut Cells) {
                let $own = self;
                cells.push((column, SqlValue::from($value)));
            }
        }
    )+};
}
fields! {
    String: text => text;
    Option<String>: text => text;
    i64: number => *number;
    Option<i64>: number => *number;
    Timestamp: at => *at;
    Option<Timestamp>: at => *at;
    bool: truth => *truth;
    Bytes: bytes => &bytes.0;
    Number: number => number.0;
    Option<Number>: number => number.map(|number| number.0);
}

impl Field for Whom {
    fn add(&self, _: &'static str, cells: &mut Cells) {
        cells.push(("kind", self.kind().into()));
        cells.push(("player", (&self.player).into()));
    }
}

impl Field for Option<Whom> {
    fn add(&self, name: &'static str, cells: &mut Cells) {
        if let Some(who) = self {
            who.add(name, cells);
        }
    }
}

impl Field for Former {
    fn add(&self, _: &'static str, _: &mut Cells) {}
}

/// Lines that are read from the columns with the names of their fields, and written to them.
macro_rules! lines {
    ($($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)+ })+) => {$(
        columns! {
            $(#[$about])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            pub struct $name {
                $($(#[$doc])* pub $field: $type,)+
            }
        }

        impl $name {
            /// The row of the line.
            pub(super) fn cells(&self) -> Cells {
                let mut cells = Vec::new();
                $(self.$field.add(stringify!($field), &mut cells);)+
                cells
            }
        }
    )+};
}

columns! {
    /// The secret from which handles and other keyed hashes are made.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct HandleKeyLine {
        /// 32 bytes.
        pub key: Bytes,
    }
}

columns! {
    /// The client that has recorded a match over HTTP.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct ReporterLine {
        /// The client.
        pub client: String,
        /// When.
        pub recorded_at: Timestamp,
    }
}

lines! {
    /// An identity that counts as another one, of the same kind.
    MergeLine {
        /// The identity.
        #[serde(flatten)]
        who: Whom,
        /// The identity that it counts as.
        into_player: String,
    }

    /// A player with a fixed weight.
    PinLine {
        /// The player.
        #[serde(flatten)]
        who: Whom,
        /// 0 to 100.
        #[serde(rename = "weight")]
        pinned_weight: Number,
        /// The scale of the weight.
        #[serde(default, skip_serializing_if = "Former::is_not")]
        former: Former,
    }

    /// A player who does not start as a newcomer.
    StartWeightLine {
        /// The player.
        #[serde(flatten)]
        who: Whom,
        /// 0 to 100.
        #[serde(rename = "weight")]
        start_weight: Number,
        /// Whether it is a guess, which the first matches may move as far as that of a newcomer.
        #[serde(rename = "uncertain")]
        start_uncertain: bool,
        /// The scale of the weight.
        #[serde(default, skip_serializing_if = "Former::is_not")]
        former: Former,
    }

    /// A player whom the pages do not show.
    HiddenLine {
        /// The player.
        #[serde(flatten)]
        who: Whom,
    }

    /// A match, or a half of one, that does not count.
    VoidLine {
        /// Its fingerprint. There may be no such match.
        fingerprint: Bytes,
    }

    /// A player who was forgotten lately: games that were running then are recorded without them.
    ForgottenLine {
        /// The handle that the player had.
        handle: String,
        /// The identity that the player has in their matches.
        instead: String,
        /// When the player was forgotten.
        at: Timestamp,
        /// The player, as long as other rows contain them.
        #[serde(flatten)]
        who: Option<Whom>,
    }

    /// A notice that a correction has moved a weight without a match of its player.
    RecountLine {
        /// The key of the ruleset.
        ruleset: String,
        /// The player.
        #[serde(flatten)]
        who: Whom,
        /// When.
        recounted_at: Timestamp,
        /// What was corrected, such as `void`.
        cause: String,
        /// The weight after the same match as it was counted before.
        weight_then: Number,
        /// The weight after that match as it is counted now.
        weight_now: Number,
    }

    /// A claim that an identity is that of a human who has played.
    LinkLine {
        /// The identity.
        player: String,
        /// The identity of the human.
        into_player: String,
        /// The client that has asked.
        client: String,
        /// When it has asked.
        asked_at: Timestamp,
        /// Who has confirmed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirmed_by: Option<String>,
        /// When it was confirmed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirmed_at: Option<Timestamp>,
    }

    /// What one reporter has reported about one human in one day.
    BehaviourLine {
        /// The identity of the human.
        player: String,
        /// The game server; empty for the daemon itself.
        reporter: String,
        /// The day, counted from 1970-01-01 UTC.
        day: i64,
        /// When the last of these reports came.
        at: Timestamp,
        /// The sum of the points.
        points: Number,
        /// Number of reports.
        reports: i64,
        /// How often the human was called to a match and did not come.
        no_shows: i64,
    }

    /// How far a webhook is. Its address and its secret are in the configuration.
    WebhookLine {
        /// Its name in the configuration.
        name: String,
        /// The kinds of its events, with a space between.
        kinds: String,
        /// The number of the last event that was sent or given up.
        position: i64,
        /// How many events were sent.
        delivered: i64,
        /// How many were given up.
        dropped: i64,
        /// Failed tries of the event that waits.
        tries: i64,
        /// When the last try failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed_at: Option<Timestamp>,
        /// How it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
    }

    /// An event that may wait for a webhook.
    EventLine {
        /// Its number.
        number: i64,
        /// The id under which receivers know it.
        event_id: String,
        /// `formed`, `hosted` or `recorded`.
        #[serde(rename = "event")]
        kind: String,
        /// The number of the match. Matches of queues that were not played are not part of an export.
        match_id: i64,
        /// When it happened.
        at: Timestamp,
        /// The address of the instance that hosts the match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<String>,
    }

    /// A key under which a client has recorded a match over HTTP.
    ReceiptLine {
        /// The client.
        client: String,
        /// The key.
        key: String,
        /// A hash of what was sent.
        body: Bytes,
        /// The number of the match that was answered. It may be gone.
        match_id: i64,
        /// Why it was not rated, as was answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unrated: Option<String>,
        /// When.
        made_at: Timestamp,
    }

    /// A browser that may record for a client.
    SignInLine {
        /// A hash of the secret in the browser's cookie.
        secret: Bytes,
        /// The client.
        client: String,
        /// A hash of the hash of the client's token.
        token: Bytes,
        /// When the browser signed in.
        made_at: Timestamp,
    }

    /// A pick-up match of a client.
    PickupLine {
        /// The client.
        client: String,
        /// The client's own name of it.
        pickup: String,
        /// A hash of what was asked.
        asked: Bytes,
        /// Where, as the client names it.
        channel: String,
        /// `picked`, `playing`, `recorded` or `void`.
        stage: String,
        /// Teams, statements and result: JSON as text, as it is stored.
        content: String,
        /// When it was made.
        made_at: Timestamp,
        /// When it changed last.
        changed_at: Timestamp,
    }

    /// An experiment.
    ExperimentLine {
        /// Its number.
        number: i64,
        /// When it began.
        began_at: Timestamp,
        /// When it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended_at: Option<Timestamp>,
        /// Why it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why_ended: Option<String>,
        /// The key of the ruleset.
        ruleset: String,
        /// Its policies: JSON as text, as it is stored.
        settings: String,
        /// At most this share of the first score is the second one of a one-sided result.
        one_sided: Number,
        /// The key from which the arms follow.
        secret: Bytes,
    }

    /// A game of an experiment, and its arm.
    ArmLine {
        /// The number of the experiment.
        experiment: i64,
        /// The game server or the client.
        asker: String,
        /// A hash of those whom a client asks about.
        people: Bytes,
        /// Which of the games it is.
        number: i64,
        /// `a` or `b`.
        arm: String,
        /// When it was drawn.
        drawn_at: Timestamp,
        /// What was known before: JSON as text, as it is stored.
        known: String,
        /// The number that the decisions of the game have.
        game: i64,
        /// The number of the match that was reported over HTTP.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        match_id: Option<i64>,
        /// Whether play began with other teams than the policy had picked.
        changed: bool,
    }

    /// What was predicted of the teams of a match at one moment.
    ChanceLine {
        /// 0: as picked; 1: as started; then each change in order.
        step: i64,
        /// `picked`, `started`, or what has changed the teams.
        cause: String,
        /// When, in milliseconds of play.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_ms: Option<i64>,
        /// Who has changed: an index into the players of the record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seat: Option<i64>,
        /// The team before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_team: Option<i64>,
        /// The team after.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to_team: Option<i64>,
        /// The chance that team 0 wins.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chance: Option<Number>,
        /// The chance of each of more than two teams, as in `0.5 v 0.3 v 0.2`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chances: Option<String>,
        /// Number of humans on each team, as in `7 v 6`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        humans: Option<String>,
        /// Number of bots on each team.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bots: Option<String>,
        /// The ruleset that a queue has predicted for; none for what BALANCE has predicted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ruleset: Option<String>,
    }

    /// A decision that has picked the teams of a match.
    DecisionLine {
        /// Its number.
        id: i64,
        /// When it was made.
        made_at: Timestamp,
        /// The game server.
        server: String,
        /// The key of the ruleset.
        ruleset: String,
        /// The number that all decisions of its game have.
        game: i64,
        /// The seed of its random numbers: 64 bits without a sign.
        seed: String,
        /// The predicted chance that team 0 wins.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chance: Option<Number>,
        /// The question, the seed and the answer: JSON as text, as it is stored.
        decision: String,
    }
}

/// What the record of the match on the next line does not contain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchHead {
    /// The number of the match.
    pub id: i64,
    /// Its fingerprint, which the record states only where it does not follow from it.
    pub fingerprint: Bytes,
    /// The number of the running game that it was, if a game server has reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game: Option<i64>,
    /// The client that has recorded it over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reporter: Option<ReporterLine>,
    /// What was predicted of its teams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chances: Vec<ChanceLine>,
    /// The fingerprints of its halves, and of records of other sources that it stands for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub halves: Vec<Bytes>,
    /// The fingerprints of the archived logs that it was read from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<Bytes>,
    /// The last BALANCE before its start, which has picked its teams, and the last one of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<DecisionLine>,
}

impl MatchHead {
    /// That of a match of which nothing else is known.
    pub(super) fn of(stored: &StoredMatch) -> Self {
        Self {
            id: stored.id,
            fingerprint: stored.fingerprint.into(),
            game: None,
            reporter: None,
            chances: Vec::new(),
            halves: Vec::new(),
            logs: Vec::new(),
            decisions: Vec::new(),
        }
    }
}

/// The last line of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndLine {
    /// Number of matches.
    pub matches: u64,
}
