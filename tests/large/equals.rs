//! How often teams of equal players would be helped, after thousands of histories that are all chance.

use evenkeel::{
    lobby::{
        Advantage, AdvantageSettings, Basis, Question, ScoreSpread, StrengthSource, TeamState,
    },
    model::{Fingerprint, Kind, LineupPlayer, PlayerKey, Rulebook, RulebookSpec},
    rating,
    rating::history::Fold,
};

use crate::common::{draw::Draw, game};

/// Enough to measure in a release build; a debug build is too slow for so many.
const HISTORIES: u64 = if cfg!(debug_assertions) { 60 } else { 2_000 };
const LINEUPS: usize = 20;
const PLAYERS: usize = 12;

/// What has been learned from so many games of five goals between random halves of equal players.
fn after(matches: i64, ids: &[String], draw: &mut Draw) -> Fold {
    let mut fold = Fold::new(&rulebook(), rating::Settings::default());
    for number in 0..matches {
        let mut players = ids.to_vec();
        draw.shuffle(&mut players);
        let human = |id: &'_ String| (Kind::Human, id.clone());
        let all: Vec<(Kind, String)> = players.iter().map(human).collect();
        let all: Vec<(Kind, &str)> = all.iter().map(|(kind, id)| (*kind, id.as_str())).collect();
        let (red, blue) = all.split_at(PLAYERS / 2);
        let mut scores = [0.0, 0.0];
        for _ in 0..5 {
            scores[usize::from(draw.unit() > 0.5)] += 1.0;
        }
        let record = game(number * 20, red, blue, scores);
        fold.push(&record, Fingerprint::of(&record)).unwrap();
    }
    fold
}

fn rulebook() -> Rulebook {
    Rulebook::new(&RulebookSpec::default()).unwrap()
}

/// The factor at START between these teams, if the deviation were `width` times as large.
fn factor(fold: &Fold, teams: &[Vec<LineupPlayer>], width: f64) -> f64 {
    let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
    let reading = fold.reading(&ruleset, "field", teams).unwrap();
    let mut win_model = reading.win_model;
    win_model.deviation *= width;
    let state = |(team, strength): (&Vec<LineupPlayer>, f64)| TeamState {
        players: team.len(),
        weight: 50.0 * team.len() as f64,
        score: 0.0,
        strength,
    };
    let question = Advantage {
        teams: teams.iter().zip(reading.strengths).map(state).collect(),
        elapsed: 0,
        left: None,
        scored: false,
        settings: AdvantageSettings::default(),
        basis: Basis {
            known: StrengthSource::Strengths(win_model),
            spread: ScoreSpread::default(),
            last: vec![],
            ago: 0,
        },
    };
    question.answer(0).factor
}

/// Prints how often equals are helped with the interval that is used, of 99 %, and how often they would
/// be with one of 95 %.
#[test]
#[ignore = "takes half a minute: `cargo test --test large -- --ignored`"]
fn equals_are_hardly_ever_helped() {
    let ids: Vec<String> = (0..PLAYERS).map(|n| format!("p{n:02}")).collect();
    let widths = [("99 %", 1.0), ("95 %", 1.96 / 2.576)];
    let mut helped = [0; 2];
    for history in 0..HISTORIES {
        let mut draw = Draw(history);
        let matches = 10 + (history % 16) as i64 * 15;
        let fold = after(matches, &ids, &mut draw);
        for _ in 0..LINEUPS {
            let mut players = ids.clone();
            draw.shuffle(&mut players);
            let key = |id: &String| PlayerKey {
                kind: Kind::Human,
                id: id.clone(),
            };
            let keys: Vec<LineupPlayer> = players.iter().map(|id| key(id).into()).collect();
            let teams = [keys[..6].to_vec(), keys[6..].to_vec()];
            for (helped, (_, width)) in helped.iter_mut().zip(widths) {
                *helped += usize::from(factor(&fold, &teams, width) >= 1.05);
            }
        }
    }
    let all = HISTORIES as usize * LINEUPS;
    for (helped, (name, _)) in helped.iter().zip(widths) {
        println!("with the interval of {name}: {helped} of {all} lineups of equals are helped");
    }
    assert!(helped[0] * 500 <= all, "{helped:?}");
}
