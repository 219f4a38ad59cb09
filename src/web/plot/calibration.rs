//! What was predicted, and what happened.

use maud::Markup;
use plotters::prelude::*;
use serde::Serialize;

use super::{DATA, INK, draw, plain};
use crate::{
    rating::history::ChanceStep,
    web::{error::WebError, words},
};

/// How often the favourites of matches with about this forecast won; a draw is half a win.
#[derive(Debug, Serialize)]
pub(in crate::web) struct CalibrationPoint {
    forecast: f64,
    won: f64,
    matches: i64,
}

impl From<ChanceStep> for CalibrationPoint {
    fn from(step: ChanceStep) -> Self {
        Self {
            forecast: words::rounded(step.chance, 4),
            won: words::rounded(step.won, 4),
            matches: step.matches,
        }
    }
}

/// Draws the forecast for the favourite against the share of matches that the favourite won. On the
/// diagonal, both are equal. The area of a point grows with the number of matches.
pub(in crate::web) fn calibration(
    label: &str,
    points: &[CalibrationPoint],
) -> Result<Markup, WebError> {
    let most = points.iter().map(|point| point.matches).fold(1, i64::max);
    let low = points.iter().map(|point| point.won).fold(0.4, f64::min);
    draw(label, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(24)
            .x_label_area_size(48)
            .y_label_area_size(84)
            .build_cartesian_2d(0.5..1.02, low - 0.05..1.05)?;
        plain(&mut chart.configure_mesh())
            .x_desc(text!(plot.forecast_for_the_favourite))
            .y_desc(text!(plot.favourite_won_draw_half))
            .x_labels(6)
            .y_labels(5)
            .x_label_formatter(&|share| words::percent(*share))
            .y_label_formatter(&|share| words::percent(*share))
            .draw()?;
        chart.draw_series(LineSeries::new(
            [(0.5, 0.5), (1.0, 1.0)],
            INK.stroke_width(1),
        ))?;
        let dots = points.iter().map(|point| {
            let size = 4.0 + 10.0 * (point.matches as f64 / most as f64).sqrt();
            Circle::new((point.forecast, point.won), size as i32, DATA.filled())
        });
        chart.draw_series(dots)?;
        Ok(())
    })
}
