//! Plots as SVG inside of pages: bars of matches by kind, predictions and results, and over time the chance and the
//! score of a match and the weights of players.
//!
//! The colours here are names: the style sheet gives them their colours, in the light theme and in the dark one.

use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
};

use maud::{Markup, PreEscaped, html};
use plotters::{
    chart::MeshStyle,
    coord::{Shift, types::RangedCoordf64},
    prelude::*,
};
use serde::Serialize;

use super::{WebError, words};
use crate::{
    experiments,
    model::{Timestamp, team_names::TeamNames},
    rating::history::ChanceStep,
    store::as_text,
};

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

type Plane = Cartesian2d<RangedCoordf64, RangedCoordf64>;

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

/// A chart with axes for weights over time, the time in milliseconds.
fn chart_of_weights<'a, 's>(
    area: &Area<'s>,
    times: Range<f64>,
    weights: Range<f64>,
) -> Result<ChartContext<'a, SVGBackend<'s>, Plane>, Box<dyn std::error::Error>> {
    let (first, last) = (times.start, times.end);
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .margin_right(34)
        .x_label_area_size(30)
        .y_label_area_size(36)
        .build_cartesian_2d(times, weights)?;
    plain(&mut chart.configure_mesh())
        .disable_x_mesh()
        .x_labels(4)
        .y_labels(5)
        .x_label_formatter(&|millis| date_labels(first, last, *millis))
        .y_label_formatter(&|weight| words::number(*weight))
        .draw()?;
    Ok(chart)
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

/// A bar and the text below it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) height: f64,
    /// Whether it has another colour.
    pub(super) is_marked: bool,
}

impl Bar {
    /// A bar that is not marked.
    pub(super) fn new(name: String, height: f64) -> Self {
        Self {
            name,
            height,
            is_marked: false,
        }
    }
}

/// Draws bars beside each other; where there are many, not every name is written.
pub(super) fn bars(label: &str, below: &str, list: &[Bar]) -> Result<Markup, WebError> {
    let most = list.iter().map(|bar| bar.height).fold(1e-9, f64::max);
    // Two labels must not be the same number.
    let height_of = |height: &f64| match most < 0.5 {
        true => format!("{height:.2}"),
        false => words::number(*height),
    };
    let count = list.len().max(1);
    let lengths = list.iter().map(|bar| bar.name.chars().count());
    let longest = lengths.max().unwrap_or(1);
    // At most 10 units of the plot's 450 for each character, and a gap.
    let step = (count * (longest * 10 + 8)).div_ceil(450).max(1);
    let name = |at: &f64| {
        let place = at.round();
        let bar = list
            .get(place as usize)
            .filter(|_| (at - place).abs() < 1e-6);
        bar.filter(|_| (place as usize).is_multiple_of(step))
            .map_or(String::new(), |bar| bar.name.clone())
    };
    draw(label, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .x_label_area_size(48)
            .y_label_area_size(44)
            .build_cartesian_2d(-0.5..count as f64 - 0.5, 0.0..most * 1.05)?;
        plain(&mut chart.configure_mesh())
            .disable_x_mesh()
            .x_desc(below)
            .x_labels(0)
            .y_labels(5)
            .y_label_formatter(&height_of)
            .draw()?;
        let area_of = |(at, bar): (usize, &Bar)| {
            let at = at as f64;
            let colour = if bar.is_marked { MARK } else { DATA };
            Rectangle::new([(at - 0.4, 0.0), (at + 0.4, bar.height)], colour.filled())
        };
        chart.draw_series(list.iter().enumerate().map(area_of))?;
        let style = ("sans-serif", TEXT).into_font().color(&INK);
        let style = style.pos(plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Center,
            plotters::style::text_anchor::VPos::Top,
        ));
        let plane = chart.plotting_area();
        for at in (0..list.len()).map(|at| at as f64) {
            let (x, y) = plane.map_coordinate(&(at, 0.0));
            let text = name(&at);
            // A name at the right edge would be cut off.
            let ends = x + (text.chars().count() as i32 * 10) / 2;
            if !text.is_empty() && ends <= SIZE.0 as i32 {
                area.draw(&Text::new(text, (x, y + 6), style.clone()))?;
            }
        }
        Ok(())
    })
}

/// How often the favourites of matches with about this forecast won; a draw is half a win.
#[derive(Debug, Serialize)]
pub(super) struct CalibrationPoint {
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
pub(super) fn calibration(label: &str, points: &[CalibrationPoint]) -> Result<Markup, WebError> {
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
            .x_desc("forecast for the favourite")
            .y_desc("favourite won (draw: half)")
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

/// Draws the chance of team 0 over a match, from (milliseconds, chance) in order of time, in the colour of the team with
/// the number `colour`.
pub(super) fn chance(
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
            .x_desc("minutes")
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

/// A line, with its points in order of time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlotLine {
    pub(super) points: Vec<(Timestamp, f64)>,
    /// Whether the line has a colour of its own. Others are behind it in the colour of the grid.
    pub(super) is_picked: bool,
}

/// Draws lines, each in the colour of its place in the list.
pub(super) fn lines(label: &str, list: &[PlotLine]) -> Result<Markup, WebError> {
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
        let mut chart = chart_of_weights(area, first..last, least - 1.0..most + 1.0)?;
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

/// Draws the scores of `teams` teams from changes in order of time: milliseconds, team, points.
pub(super) fn score(
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
            .x_desc("minutes")
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

/// A player's weight after a match.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct WeightPoint {
    /// When the match ended.
    #[serde(serialize_with = "as_text")]
    pub(super) at: Timestamp,
    pub(super) weight: f64,
    pub(super) deviation: f64,
    /// Whether no match has given the weight, because an operator has fixed it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) pinned: bool,
}

/// Which of these points in order of time is the peak: the first one of the highest weight that matches have given.
pub(super) fn peak(points: &[WeightPoint]) -> Option<usize> {
    let given = points.iter().enumerate().filter(|(_, point)| !point.pinned);
    let highest = given
        .rev()
        .max_by(|(_, a), (_, b)| a.weight.total_cmp(&b.weight));
    highest.map(|(at, _)| at)
}

/// Draws how the range of a difference has become narrower from match to match; there is at least one.
pub(super) fn interval(label: &str, points: Vec<(f64, [f64; 2])>) -> Result<Markup, WebError> {
    let last = points.last().map_or(1.0, |(at, _)| *at).max(2.0);
    draw(label, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(34)
            .x_label_area_size(30)
            .y_label_area_size(52)
            .build_cartesian_2d(1.0..last, -1.0..1.0)?;
        plain(&mut chart.configure_mesh())
            .disable_x_mesh()
            .x_labels(4)
            .y_labels(5)
            .x_label_formatter(&|matches| format!("{matches:.0}"))
            .y_label_formatter(&|difference| experiments::points(*difference))
            .draw()?;
        let upper = points.iter().map(|(at, [_, high])| (*at, *high));
        let lower = points.iter().rev().map(|(at, [low, _])| (*at, *low));
        let range: Vec<(f64, f64)> = upper.chain(lower).collect();
        chart.draw_series([Polygon::new(range, RANGE.filled())])?;
        for end in [0, 1] {
            let line = points.iter().map(|(at, ends)| (*at, ends[end]));
            chart.draw_series(LineSeries::new(line, DATA.stroke_width(2)))?;
        }
        chart.draw_series(LineSeries::new([(1.0, 0.0), (last, 0.0)], MARK))?;
        Ok(())
    })
}

/// The smallest range of the axis, in points of weight.
const LEAST_RANGE: f64 = 4.0;

/// Draws weights in order of time, with dots at the peak and at the end; there is at least one. A weight that an operator
/// has fixed is a dot beside the line.
pub(super) fn weights(label: &str, points: &[WeightPoint]) -> Result<Markup, WebError> {
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
        let mut chart = chart_of_weights(area, first..last, least..most)?;
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
