//! Plots as SVG inside of pages.
//!
//! The colours here are names: the style sheet gives them their colours, in the light theme and in the
//! dark one.

mod bars;
mod calibration;
mod chance;
mod lines;
mod score;
mod weight;

pub(super) use bars::{Bar, bars};
pub(super) use calibration::{CalibrationPoint, calibration};
pub(super) use chance::chance;
pub(super) use lines::{Line, lines};
pub(super) use score::score;
pub(super) use weight::{WeightPoint, peak, weights};

use std::panic::{AssertUnwindSafe, catch_unwind};

use maud::{Markup, PreEscaped, html};
use plotters::{
    chart::MeshStyle,
    coord::{Shift, types::RangedCoordf64},
    prelude::*,
};

use super::{error::WebError, words};
use crate::model::Timestamp;

/// The colour of text.
const INK: RGBColor = RGBColor(1, 1, 1);
/// The colour of the lines behind the data.
const GRID: RGBColor = RGBColor(2, 2, 2);
/// The colour of the data, where there is one series.
const DATA: RGBColor = RGBColor(3, 3, 3);
/// The colour of the range in which the data is uncertain.
const RANGE: RGBColor = RGBColor(4, 4, 4);
/// The colour of what is marked in the data.
const MARK: RGBColor = RGBColor(5, 5, 5);
/// The colours of the teams' series, in the order of the teams.
const TEAMS: [RGBColor; 8] = [
    RGBColor(16, 16, 16),
    RGBColor(17, 17, 17),
    RGBColor(18, 18, 18),
    RGBColor(19, 19, 19),
    RGBColor(20, 20, 20),
    RGBColor(21, 21, 21),
    RGBColor(22, 22, 22),
    RGBColor(23, 23, 23),
];

/// Width and height of a plot, in its own units; pages scale it to their width.
const SIZE: (u32, u32) = (520, 280);
/// The height of text in a plot, in the same units.
const TEXT: u32 = 18;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

type Mesh<'a, 'b, 'c> = MeshStyle<'a, 'b, RangedCoordf64, RangedCoordf64, SVGBackend<'c>>;

/// Gives the lines and labels of a chart the look that all plots have.
fn plain<'m, 'a, 'b, 'c>(mesh: &'m mut Mesh<'a, 'b, 'c>) -> &'m mut Mesh<'a, 'b, 'c> {
    mesh.bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .max_light_lines(1)
        .axis_style(GRID)
        .label_style(("sans-serif", TEXT).into_font().color(&INK))
}

/// A day in milliseconds.
const DAY: f64 = 86_400_000.0;

/// The label of an instant on an axis of time: the hour if the axis is short, otherwise the date. All in milliseconds.
fn date_labels(first: f64, last: f64, at: f64) -> String {
    let minute = words::minute(Timestamp(at as i64));
    let part = if last - first < 2.0 * DAY {
        11..16
    } else {
        0..10
    };
    minute.get(part).unwrap_or_default().to_owned()
}

/// Draws a plot. `label` describes it to people who cannot see it.
fn draw(
    label: &str,
    content: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn std::error::Error>>,
) -> Result<Markup, WebError> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    // The plotting library has panicked on ranges that it does not expect; that must not end a connection.
    let drawing = AssertUnwindSafe(|| content(&area).and_then(|()| Ok(area.present()?)));
    let drawn = catch_unwind(drawing).unwrap_or_else(|_| Err("the plot cannot be drawn".into()));
    drop(area);
    drawn.map_err(|error| WebError::Broken(error.to_string()))?;
    Ok(html! { div.plot role="img" aria-label=(label) { (PreEscaped(svg)) } })
}
