//! A player's weight over time, with its uncertainty.

use maud::Markup;
use plotters::prelude::*;
use serde::Serialize;

use super::{DATA, RANGE, date_labels, draw, plain};
use crate::{
    model::Timestamp,
    web::{
        error::WebError,
        words::{self, as_text},
    },
};

/// A player's weight after a match.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(in crate::web) struct WeightPoint {
    /// When the match ended.
    #[serde(serialize_with = "as_text")]
    pub(in crate::web) at: Timestamp,
    pub(in crate::web) weight: f64,
    pub(in crate::web) deviation: f64,
    /// Whether no match has given the weight, because an operator has fixed it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::web) pinned: bool,
}

/// Which of these points in order of time is the peak: the first one of the highest weight that matches have given.
pub(in crate::web) fn peak(points: &[WeightPoint]) -> Option<usize> {
    let given = points.iter().enumerate().filter(|(_, point)| !point.pinned);
    let highest = given
        .rev()
        .max_by(|(_, a), (_, b)| a.weight.total_cmp(&b.weight));
    highest.map(|(at, _)| at)
}

/// The smallest range of the axis, in points of weight.
const LEAST_RANGE: f64 = 4.0;

/// Draws weights in order of time, with dots at the peak and at the end; there is at least one. A weight that an operator
/// has fixed is a dot beside the line.
pub(in crate::web) fn weights(label: &str, points: &[WeightPoint]) -> Result<Markup, WebError> {
    let at = |point: &WeightPoint| point.at.0 as f64;
    let first = points.first().map_or(0.0, at);
    let last = points.last().map_or(0.0, at).max(first + 60_000.0);
    let low = |point: &WeightPoint| (point.weight - point.deviation).max(0.0);
    let high = |point: &WeightPoint| (point.weight + point.deviation).min(100.0);
    let least = points.iter().map(low).fold(100.0, f64::min);
    let most = points.iter().map(high).fold(0.0, f64::max);
    // The axis fits the weights, but does not make a difference of a tenth look large.
    let missing = (LEAST_RANGE - (most - least)).max(0.0) / 2.0;
    let (least, most) = (least - missing, most + missing);
    draw(label, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(34)
            .x_label_area_size(30)
            .y_label_area_size(36)
            .build_cartesian_2d(first..last, least..most)?;
        plain(&mut chart.configure_mesh())
            .disable_x_mesh()
            .x_labels(4)
            .y_labels(5)
            .x_label_formatter(&|millis| date_labels(first, last, *millis))
            .y_label_formatter(&|weight| words::number(*weight))
            .draw()?;
        let given = || points.iter().filter(|point| !point.pinned);
        let upper = given().map(|point| (at(point), high(point)));
        let lower = given().rev().map(|point| (at(point), low(point)));
        let range: Vec<(f64, f64)> = upper.chain(lower).collect();
        chart.draw_series([Polygon::new(range, RANGE.filled())])?;
        let line = given().map(|point| (at(point), point.weight));
        let style = DATA.stroke_width(2);
        chart.draw_series(LineSeries::new(line, style))?;
        let peak = peak(points).map(|at| &points[at]);
        let marked = points
            .last()
            .into_iter()
            .chain(given().next_back())
            .chain(peak);
        chart.draw_series(marked.map(|p| Circle::new((at(p), p.weight), 4, DATA.filled())))?;
        Ok(())
    })
}
