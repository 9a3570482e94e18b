//! A plot of lines, as an SVG file with a background of its own: legible on light and on dark pages.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

const SIZE: (u32, u32) = (720, 400);
const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(225, 225, 225);
/// Colours of the lines: blue and orange, which nearly everybody can tell apart.
const COLOURS: [RGBColor; 2] = [RGBColor(0, 90, 181), RGBColor(204, 85, 0)];

/// Lines over two axes.
pub(super) struct Plot {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
}

pub(super) struct Axis {
    /// What it shows, with its unit.
    pub(super) title: &'static str,
    pub(super) log: bool,
}

pub(super) struct Line {
    pub(super) name: &'static str,
    pub(super) points: Vec<(f64, f64)>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl Plot {
    /// Writes the picture, and its folder if there is none.
    pub(super) fn write(&self, file: &Path) -> Result<(), Box<dyn Error>> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let area = SVGBackend::new(file, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let (x, y) = (self.range(&self.x, |point| point.0), self.range(&self.y, |point| point.1));
        if self.x.log {
            self.draw(&area, (x.start * 0.9..x.end * 1.1).log_scale(), y)?;
        } else {
            self.draw(&area, x, y)?;
        }
        Ok(area.present()?)
    }

    /// From the least point on a logarithmic axis, from 0 on another, to a little more than the largest.
    fn range(&self, axis: &Axis, coordinate: fn(&(f64, f64)) -> f64) -> Range<f64> {
        let values = || self.lines.iter().flat_map(|line| &line.points).map(coordinate);
        let least = if axis.log { values().fold(f64::INFINITY, f64::min) } else { 0.0 };
        let largest = values().fold(f64::MIN_POSITIVE, f64::max) * 1.1;
        least..largest
    }

    /// Where no line is: lines that are level on a logarithmic axis, and lines that rise on another.
    fn legend(&self) -> SeriesLabelPosition {
        if self.x.log { SeriesLabelPosition::LowerRight } else { SeriesLabelPosition::UpperLeft }
    }

    fn draw<X>(&self, area: &Area<'_>, x: X, y: Range<f64>) -> Result<(), Box<dyn Error>>
    where
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, (FONT, 17).into_font().color(&INK))
            .margin(14)
            .x_label_area_size(46)
            .y_label_area_size(62)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style((FONT, 14).into_font().color(&INK))
            .x_desc(self.x.title)
            .y_desc(self.y.title)
            .x_labels(6)
            .y_labels(6)
            .x_label_formatter(&|value| thousands(*value))
            .y_label_formatter(&|value| thousands(*value))
            .draw()?;
        for (line, colour) in self.lines.iter().zip(COLOURS) {
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), colour.stroke_width(2)).point_size(4))?
                .label(line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], colour.stroke_width(3)));
        }
        chart
            .configure_series_labels()
            .position(self.legend())
            .label_font((FONT, 14).into_font().color(&INK))
            .background_style(WHITE)
            .border_style(GRID)
            .draw()?;
        Ok(())
    }
}

/// A whole number with commas, as the documents write it.
pub(super) fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_names_its_axes_and_lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("new").join("plot.svg");
        let axis = |title| Axis { title, log: title == "users" };
        let line = |name| Line { name, points: vec![(100.0, 3.0), (20_000.0, 4.0)] };
        let lines = vec![line("ours"), line("theirs")];
        Plot { title: "cost".to_owned(), x: axis("users"), y: axis("µs a key"), lines }
            .write(&file)
            .expect("it is written");
        let text = std::fs::read_to_string(file).expect("it is text");
        assert!(["cost", "users", "µs a key", "ours", "theirs", "10,000"].iter().all(|word| text.contains(word)));
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(["5", "100", "1,000", "20,000"].map(String::from), [5.0, 100.0, 1e3, 2e4].map(thousands));
    }
}
