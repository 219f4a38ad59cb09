//! The chance of a team over the time of a match.

use maud::Markup;
use plotters::prelude::*;

use super::{INK, TEAMS, draw, plain};
use crate::web::{error::WebError, words};

/// Draws the chance of team 0 over a match, from (milliseconds, chance) in order of time, in the colour of the team with
/// the number `colour`.
pub(in crate::web) fn chance(
    label: &str,
    points: &[(u64, f64)],
    colour: usize,
) -> Result<Markup, WebError> {
    let minutes = |millis: u64| millis as f64 / 60_000.0;
    let end = minutes(points.last().map_or(1, |(at, _)| (*at).max(1)));
    draw(label, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(20)
            .x_label_area_size(48)
            .y_label_area_size(56)
            .build_cartesian_2d(0.0..end, 0.0..1.0)?;
        plain(&mut chart.configure_mesh())
            .disable_x_mesh()
            .x_desc(text!(plot.minutes))
            .x_labels(6)
            .y_labels(3)
            .x_label_formatter(&|minutes| words::number(*minutes))
            .y_label_formatter(&|share| words::percent(*share))
            .draw()?;
        let even = [(0.0, 0.5), (end, 0.5)];
        chart.draw_series(LineSeries::new(even, INK.stroke_width(1)))?;
        let line = points.iter().map(|(at, chance)| (minutes(*at), *chance));
        chart.draw_series(LineSeries::new(
            line,
            TEAMS[colour % TEAMS.len()].stroke_width(3),
        ))?;
        Ok(())
    })
}
