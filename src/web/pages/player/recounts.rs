//! Notices that a correction of history has moved a weight of the player, who has not played.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    model::{PlayerKey, Timestamp},
    store::{RecountCause, RecountRow},
    web::{
        Site,
        error::WebError,
        words::{self, as_text, rounded},
    },
};

/// The most notices that are shown.
const SHOWN: i64 = 10;

/// A notice.
#[derive(Debug, PartialEq, Serialize)]
pub(in crate::web) struct Recounted {
    ruleset: String,
    #[serde(serialize_with = "as_text")]
    at: Timestamp,
    /// The code of what was corrected.
    #[serde(serialize_with = "code")]
    cause: Option<RecountCause>,
    /// The weight after the same match, as it was counted before the correction and after it.
    then: f64,
    now: f64,
}

fn code<S: serde::Serializer>(cause: &Option<RecountCause>, to: S) -> Result<S::Ok, S::Error> {
    cause.map(RecountCause::as_str).serialize(to)
}

impl From<RecountRow> for Recounted {
    fn from(row: RecountRow) -> Self {
        Self {
            ruleset: row.ruleset,
            at: row.at,
            cause: row.cause,
            then: rounded(row.then, 3),
            now: rounded(row.now, 3),
        }
    }
}

/// Reads the latest notices to a player; none where numbers are not shown.
pub(in crate::web) async fn read(
    site: &Site,
    player: &PlayerKey,
) -> Result<Vec<Recounted>, WebError> {
    if !site.settings.shows_numbers() {
        return Ok(Vec::new());
    }
    let rows = site.pages().learned().recounts_of(player, SHOWN).await?;
    Ok(rows.into_iter().map(Recounted::from).collect())
}

/// The list of the notices.
pub(super) fn list(recounts: &[Recounted]) -> Markup {
    html! {
        @if !recounts.is_empty() {
            h2 { (text!(player.recounted)) }
            ul {
                @for one in recounts {
                    li {
                        (format!(text!(player.recounted_by), words::signed(one.now - one.then), because(one.cause),
                            words::day(one.at)))
                        " (" (words::ruleset(&one.ruleset)) ")"
                    }
                }
            }
            p.note { (text!(player.a_correction_counts_again)) }
        }
    }
}

fn because(cause: Option<RecountCause>) -> &'static str {
    match cause {
        Some(RecountCause::Void) => text!(player.was_made_void),
        Some(RecountCause::Valid) => text!(player.counts_again),
        Some(RecountCause::Merge) => text!(player.were_merged),
        Some(RecountCause::Split) => text!(player.were_split),
        Some(RecountCause::StartWeight) => text!(player.was_given_a_start),
        Some(RecountCause::Log) => text!(player.log_was_read_again),
        Some(RecountCause::Settings) => text!(player.settings_changed),
        Some(RecountCause::LateMatch) => text!(player.match_arrived_late),
        None => text!(player.history_was_corrected),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_says_by_how_much_why_and_when() {
        assert_eq!(list(&[]).into_string(), "");
        let row = |cause, now| RecountRow {
            ruleset: "ctf".into(),
            at: Timestamp(1_795_188_516_000),
            cause,
            then: 52.0,
            now,
        };
        let rows = [row(Some(RecountCause::Void), 51.7), row(None, 52.1)];
        let list = list(&rows.map(Recounted::from)).into_string();
        assert!(
            list.contains("−0.3 (a match was made void, 2026-11-20)"),
            "{list}"
        );
        assert!(
            list.contains("+0.1 (history was corrected, 2026-11-20)"),
            "{list}"
        );
    }
}
