//! The weights of several players over time.

use maud::Markup;
use plotters::prelude::*;

use super::{GRID, TEAMS, date_labels, draw, plain};
use crate::{
    model::Timestamp,
    web::{error::WebError, words},
};

/// A line, with its points in order of time.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::web) struct Line {
    pub(in crate::web) points: Vec<(Timestamp, f64)>,
    /// Whether the line has a colour of its own. Others are behind it in the colour of the grid.
    pub(in crate::web) is_picked: bool,
}

/// Draws lines, each in the colour of its place in the list.
pub(in crate::web) fn lines(label: &str, list: &[Line]) -> Result<Markup, WebError> {
    let all = || list.iter().flat_map(|line| &line.points);
    let times = || all().map(|(at, _)| at.0 as f64);
    let (first, last) = (
        times().fold(f64::INFINITY, f64::min),
        times().fold(0.0, f64::max),
    );
    let first = if first.is_finite() { first } else { 0.0 };
    let last = last.max(first + 60_000.0);
    let weights = || all().map(|(_, weight)| *weight);
    let (least, most) = (
        weights().fold(100.0, f64::min),
        weights().fold(0.0, f64::max),
    );
    draw(label, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(34)
            .x_label_area_size(30)
            .y_label_area_size(36)
            .build_cartesian_2d(first..last, least - 1.0..most + 1.0)?;
        plain(&mut chart.configure_mesh())
            .disable_x_mesh()
            .x_labels(4)
            .y_labels(5)
            .x_label_formatter(&|millis| date_labels(first, last, *millis))
            .y_label_formatter(&|weight| words::number(*weight))
            .draw()?;
        let in_order = |picked| {
            list.iter()
                .zip(TEAMS.iter().cycle())
                .filter(move |(line, _)| line.is_picked == picked)
        };
        for (line, colour) in in_order(false).chain(in_order(true)) {
            let points = line
                .points
                .iter()
                .map(|(at, weight)| (at.0 as f64, *weight));
            let style = match line.is_picked {
                true => colour.stroke_width(3),
                false => GRID.stroke_width(2),
            };
            chart.draw_series(LineSeries::new(points, style))?;
        }
        Ok(())
    })
}
