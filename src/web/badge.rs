//! `/players/ID.svg`: a player's standing as a picture of one line, for forums and profiles elsewhere.

use maud::{Markup, html};

use super::{
    Site,
    encode::without_controls,
    error::WebError,
    pages::{KnownPlayer, PlayerStanding},
};
use crate::model::Kind;

/// About the width of a character, and the room beside a text, in pixels.
const CHARACTER: usize = 7;
const BESIDE: usize = 8;
/// The most characters of a name, and of what stands beside it.
const LONGEST: usize = 40;

/// The badge of the player with this handle or identity: the standing under a ruleset, or that with most matches.
pub(super) async fn of_player(
    site: &Site,
    text: &str,
    kind: Option<Kind>,
    ruleset: Option<&str>,
) -> Result<String, WebError> {
    let known = KnownPlayer::read(site, text, kind).await?;
    let mut standings = known.standings.into_iter();
    let line = match ruleset {
        Some(name) => standings.find(|line| line.ruleset == name),
        None => standings.next(),
    };
    let line = line.ok_or(WebError::NoRuleset)?;
    let standing = PlayerStanding::new(site, known.person.key.kind, line);
    Ok(badge(known.player.plain(), &standing.in_short()).into_string())
}

/// Two texts beside each other. The widths are guesses: the browser fits each text into its part.
fn badge(name: &str, standing: &str) -> Markup {
    let short = |text: &str| -> String { without_controls(text).chars().take(LONGEST).collect() };
    let (name, standing) = (short(name), short(standing));
    let width = |text: &str| CHARACTER * text.chars().count().max(1);
    let (left, right) = (width(&name) + 2 * BESIDE, width(&standing) + 2 * BESIDE);
    let label = format!("{name}: {standing}");
    let text = |x: usize, text: &str| {
        html! { text x=(x) y="14" textLength=(width(text)) lengthAdjust="spacingAndGlyphs" { (text) } }
    };
    html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(left + right) height="20" role="img" aria-label=(label) {
            title { (label) }
            rect width=(left + right) height="20" rx="3" fill="#24292f" {}
            path d=(format!("M{left} 0h{}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{}z", right - 3, right - 3)) fill="#0b57a4" {}
            g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" {
                (text(BESIDE, &name))
                (text(left + BESIDE, &standing))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badge_has_both_texts_escaped_and_short() {
        let svg = badge("<b>\u{0}&\u{ffff}", &"9".repeat(100)).into_string();
        assert!(
            svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\""),
            "{svg}"
        );
        assert!(svg.contains(">&lt;b&gt;&amp;</text>"), "{svg}");
        assert!(
            svg.contains(&format!(">{}</text>", "9".repeat(LONGEST))),
            "{svg}"
        );
    }
}
