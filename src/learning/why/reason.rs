//! What a match has done to a weight, in a few words for people.

use crate::model::{WeightCause, WeightEntry};

/// What moved the weight or held it, such as `won, limited to 3.4`. With `pinned`, an operator has fixed the weight, and
/// the match has entered only the account beneath it. `None` where nothing is to be said: in rating systems that keep a
/// number of their own.
pub fn reason(entry: &WeightEntry, pinned: bool) -> Option<String> {
    let Some(cause) = entry.cause else {
        return pinned.then(|| "pinned".to_owned());
    };
    let by = entry.change().abs();
    let limited = |result: &str| format!("{result}, limited to {by:.1}");
    let moved = match cause {
        WeightCause::Won => "won".to_owned(),
        WeightCause::WonLimited => limited("won"),
        WeightCause::WonHeld => "won, by less than expected".to_owned(),
        WeightCause::Lost => "lost".to_owned(),
        WeightCause::LostLimited => limited("lost"),
        WeightCause::LostHeld => "lost, no weaker than the weight".to_owned(),
        WeightCause::Drew => "draw".to_owned(),
        WeightCause::DrewLimited => limited("draw"),
        WeightCause::DrewAsFavourite => "draw as the favourite".to_owned(),
        WeightCause::DrewAsOutsider => "draw as the outsider".to_owned(),
        WeightCause::ChangedTeams => "changed teams".to_owned(),
        WeightCause::NoResult => "no result".to_owned(),
    };
    Some(match pinned {
        true => format!("pinned; beneath it: {moved}"),
        false => moved,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_says_what_moved_the_weight_or_held_it() {
        let said = |before, weight, cause: Option<&str>, pinned| {
            let entry = WeightEntry {
                before,
                weight,
                deviation: 5.0,
                cause: cause.map(|code| WeightCause::parse(code).unwrap()),
            };
            reason(&entry, pinned)
        };
        let of = |weight, cause| said(60.0, weight, Some(cause), false).unwrap();
        assert_eq!(of(61.0, "won"), "won");
        assert_eq!(of(63.4, "won-limited"), "won, limited to 3.4");
        assert_eq!(of(60.0, "won-held"), "won, by less than expected");
        assert_eq!(of(57.0, "lost-limited"), "lost, limited to 3.0");
        assert_eq!(of(60.0, "lost-held"), "lost, no weaker than the weight");
        assert_eq!(of(60.0, "drew-as-favourite"), "draw as the favourite");
        assert_eq!(of(60.0, "drew-as-outsider"), "draw as the outsider");
        assert_eq!(of(60.0, "changed-teams"), "changed teams");
        let beneath = said(60.0, 60.0, Some("won-held"), true).unwrap();
        assert_eq!(beneath, "pinned; beneath it: won, by less than expected");
        assert_eq!(said(60.0, 61.0, None, false), None);
        assert_eq!(said(60.0, 61.0, None, true).unwrap(), "pinned");
    }
}
