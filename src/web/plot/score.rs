//! The score of a match over its time.

use maud::Markup;
use plotters::prelude::*;

use super::{TEAMS, draw, plain};
use crate::{
    model::TeamNames,
    web::{error::WebError, words},
};

/// Draws the scores of `teams` teams from changes in order of time: milliseconds, team, points.
pub(in crate::web) fn score(
    label: &str,
    (teams, names): (usize, &TeamNames),
    millis: i64,
    events: &[(i64, u8, f64)],
) -> Result<Markup, WebError> {
    let minutes = |millis: i64| millis as f64 / 60_000.0;
    let end = minutes(millis.max(1));
    let mut lines = vec![vec![(0.0, 0.0)]; teams.min(TEAMS.len())];
    for &(at, team, points) in events {
        if let Some(line) = lines.get_mut(usize::from(team)) {
            let score = line.last().map_or(0.0, |(_, score)| *score);
            line.push((minutes(at), score));
            line.push((minutes(at), score + points));
        }
    }
    for line in &mut lines {
        let score = line.last().map_or(0.0, |(_, score)| *score);
        line.push((end, score));
    }
    let scores = || lines.iter().flatten().map(|(_, score)| *score);
    let (least, most) = (scores().fold(0.0, f64::min), scores().fold(1.0, f64::max));
    // Scores are whole numbers in most games: no labels between them.
    let ticks = (most - least).ceil().clamp(1.0, 4.0) as usize + 1;
    draw(label, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(20)
            .x_label_area_size(48)
            .y_label_area_size(36)
            .build_cartesian_2d(0.0..end, least..most * 1.05)?;
        plain(&mut chart.configure_mesh())
            .disable_x_mesh()
            .x_desc(text!(plot.minutes))
            .x_labels(6)
            .y_labels(ticks)
            .x_label_formatter(&|minutes| words::number(*minutes))
            .y_label_formatter(&|score| words::number(*score))
            .draw()?;
        for (team, line) in lines.iter().enumerate() {
            let colour = TEAMS[names.colour(team) % TEAMS.len()];
            chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(3)))?;
        }
        Ok(())
    })
}
