//! The paper of a plot: axes, marks and a key, written by a template.

use super::scale::{Scale, Span};
use super::{Plot, short};
use askama::Template;

/// Width of a plot in its own units; its text has 12 of them. A page shows it at 330 to 560 pixels.
pub const WIDTH: f64 = 440.0;
/// The paper around the field.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 24.0;
const BELOW: f64 = 40.0;
/// About as many ticks has an axis.
const X_TICKS: usize = 5;
const Y_TICKS: usize = 4;
/// Height of a line of the key.
const KEY_LINE: f64 = 17.0;
/// Longest title, description and label of an axis, in columns.
const LONGEST_TITLE: usize = 160;
const LONGEST_ABOUT: usize = 4000;
const LONGEST_LABEL: usize = 60;
/// Width of a character of the key.
const LETTER: f64 = 6.4;
/// Width of a digit in a wide font, such as DejaVu Sans.
const DIGIT: f64 = 7.7;

/// Ink of a mark: a class of the style sheet, which differs by colour and by shape or dash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// What is used: filled circles.
    Used,
    /// What is left out: crosses.
    Out,
    /// A fitted line.
    Line,
    /// A line to compare with: dashed.
    Guide,
    /// Bars and areas.
    Area,
    /// A second kind of bars: hatched by its edge.
    Other,
    /// Intervals.
    Interval,
    /// Small points, as of many readings.
    Dots,
    /// Small crosses, as of many readings that are left out.
    OutDots,
}

impl Ink {
    /// Its class.
    pub fn class(self) -> &'static str {
        match self {
            Ink::Used => "hs-used",
            Ink::Out => "hs-out",
            Ink::Line => "hs-line",
            Ink::Guide => "hs-guide",
            Ink::Area => "hs-area",
            Ink::Other => "hs-other",
            Ink::Interval => "hs-interval",
            Ink::Dots => "hs-dots",
            Ink::OutDots => "hs-outdots",
        }
    }
}

/// Marks of one kind as one path.
#[derive(Debug, Clone, PartialEq)]
pub struct Marks {
    /// Their ink.
    pub ink: Ink,
    /// The path.
    pub path: String,
}

/// A text in the field.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    x: String,
    y: String,
    anchor: &'static str,
    text: String,
}

/// An entry of the key.
struct Key {
    class: &'static str,
    path: String,
    x: String,
    y: String,
    text: String,
}

struct Tick {
    at: String,
    text_at: String,
    text: String,
}

/// A plot that is being drawn.
pub struct Chart {
    name: String,
    title: String,
    about: String,
    x_label: String,
    y_label: String,
    width: f64,
    left: f64,
    height: f64,
    /// The horizontal axis.
    pub x: Scale,
    /// The vertical axis.
    pub y: Scale,
    has_x: bool,
    has_y: bool,
    marks: Vec<Marks>,
    labels: Vec<Label>,
    key: Vec<(Ink, String)>,
}

/// What a plot is about.
pub struct Titles<'t> {
    /// A name of letters, digits and hyphens, which a file may have.
    pub name: &'t str,
    /// The title.
    pub title: String,
    /// What it shows, in words, for those who do not see it.
    pub about: String,
    /// Label of the horizontal axis with its unit.
    pub x: String,
    /// Label of the vertical axis with its unit.
    pub y: String,
}

impl Chart {
    /// An empty plot with linear axes, whose field has this height.
    pub fn new(titles: Titles, x: Span, y: Span, height: f64) -> Chart {
        let y = Scale::linear(y, TOP + height, TOP);
        let left = LEFT.max(12.0 + widest(&y.ticks(Y_TICKS)));
        Chart {
            name: titles.name.to_owned(),
            title: short(&titles.title, LONGEST_TITLE),
            about: short(&titles.about, LONGEST_ABOUT),
            x_label: short(&titles.x, LONGEST_LABEL),
            y_label: short(&titles.y, LONGEST_LABEL),
            width: WIDTH,
            left,
            height,
            x: Scale::linear(x, left, WIDTH - RIGHT),
            y,
            has_x: true,
            has_y: true,
            marks: Vec::new(),
            labels: Vec::new(),
            key: Vec::new(),
        }
    }

    /// The plot with lines of text at the left in place of the vertical axis.
    #[must_use]
    pub fn with_names(mut self, left: f64) -> Chart {
        (self.left, self.has_y) = (left, false);
        self.x = Scale::linear(self.x.span(), left, self.width - RIGHT);
        self
    }

    /// The plot with a logarithmic vertical axis.
    #[must_use]
    pub fn with_log_y(mut self) -> Chart {
        self.y = Scale::log(self.y.span(), TOP + self.height, TOP);
        self
    }

    /// The plot on wider paper, without axes.
    #[must_use]
    pub fn without_axes(mut self, width: f64) -> Chart {
        (self.width, self.left, self.has_x, self.has_y) = (width.max(WIDTH), 4.0, false, false);
        self
    }

    /// The upper end of the field.
    pub fn top(&self) -> f64 {
        TOP
    }

    /// The lower end of the field.
    pub fn bottom(&self) -> f64 {
        TOP + self.height
    }

    /// Adds marks; nothing for an empty path.
    pub fn draw(&mut self, ink: Ink, path: String) {
        if !path.is_empty() {
            self.marks.push(Marks { ink, path });
        }
    }

    /// Adds marks with a line in the key.
    pub fn draw_with_key(&mut self, ink: Ink, path: String, key: &str) {
        if !path.is_empty() {
            self.key.push((ink, key.to_owned()));
            self.draw(ink, path);
        }
    }

    /// Adds a text: `start`, `middle` or `end` is at the place.
    pub fn write(&mut self, x: f64, y: f64, anchor: &'static str, text: impl Into<String>) {
        self.labels.push(Label { x: unit(x), y: unit(y), anchor, text: text.into() });
    }

    /// The finished plot.
    pub fn finish(self) -> Plot {
        let key_top = self.bottom() + if self.has_x { BELOW } else { 8.0 };
        let (keys, lines) = self.keys(key_top);
        let total = key_top + lines as f64 * KEY_LINE + if lines > 0 { 6.0 } else { 0.0 };
        let sheet = Sheet {
            title: &self.title,
            about: &self.about,
            width: unit(self.width),
            height: unit(total),
            left: unit(self.left),
            right: unit(self.width - RIGHT),
            top: unit(TOP),
            bottom: unit(self.bottom()),
            middle: unit(f64::midpoint(self.left, self.width - RIGHT)),
            x_ticks: if self.has_x { self.x_ticks() } else { Vec::new() },
            y_ticks: if self.has_y { self.y_ticks() } else { Vec::new() },
            has_x: self.has_x,
            has_y: self.has_y,
            tick_y: unit(self.bottom() + 15.0),
            label_y: unit(self.bottom() + 32.0),
            tick_x: unit(self.left - 6.0),
            x_label: &self.x_label,
            y_label: &self.y_label,
            marks: &self.marks,
            labels: &self.labels,
            keys,
        };
        let svg = sheet.render().unwrap_or_default();
        Plot { name: self.name, title: self.title, svg }
    }

    /// The ticks below: as many as have room, and no text beyond the paper.
    fn x_ticks(&self) -> Vec<Tick> {
        let room = (self.width - RIGHT - self.left) / X_TICKS as f64;
        let most = if widest(&self.x.ticks(X_TICKS)) > room { X_TICKS / 2 } else { X_TICKS };
        let ticks = self.x.ticks(most).into_iter();
        ticks
            .map(|(at, text)| {
                let half = DIGIT * text.chars().count() as f64 / 2.0;
                let text_at = at.min(self.width - half).max(half);
                Tick { at: unit(at), text_at: unit(text_at), text }
            })
            .collect()
    }

    fn y_ticks(&self) -> Vec<Tick> {
        let ticks = self.y.ticks(Y_TICKS).into_iter();
        ticks.map(|(at, text)| Tick { at: unit(at), text_at: unit(at), text }).collect()
    }

    /// The entries of the key from left to right, and the number of their lines.
    fn keys(&self, top: f64) -> (Vec<Key>, usize) {
        let (mut x, mut line) = (self.left, 0);
        let mut keys = Vec::new();
        for (ink, text) in &self.key {
            let wide = 30.0 + LETTER * text.chars().count() as f64;
            if x > self.left && x + wide > self.width {
                (x, line) = (self.left, line + 1);
            }
            let y = top + 12.0 + line as f64 * KEY_LINE;
            keys.push(Key {
                class: ink.class(),
                path: sample(*ink, x + 10.0, y - 4.0),
                x: unit(x + 24.0),
                y: unit(y),
                text: text.clone(),
            });
            x += wide + 10.0;
        }
        let lines = if keys.is_empty() { 0 } else { line + 1 };
        (keys, lines)
    }
}

/// Width of the widest label.
fn widest(ticks: &[(f64, String)]) -> f64 {
    DIGIT * ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0) as f64
}

/// A mark of this ink for the key.
fn sample(ink: Ink, x: f64, y: f64) -> String {
    match ink {
        Ink::Used => circle(x, y, 3.0),
        Ink::Out | Ink::OutDots => cross(x, y, 3.5),
        Ink::Dots => [-6.0, 0.0, 6.0].map(|beside| dot(x + beside, y)).concat(),
        Ink::Line | Ink::Guide | Ink::Interval => segment((x - 9.0, y), (x + 9.0, y)),
        Ink::Area | Ink::Other => bar((x - 7.0, y - 4.0), (x + 7.0, y + 4.0)),
    }
}

/// A number of the paper with at most one decimal.
pub fn unit(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// A circle.
pub fn circle(x: f64, y: f64, r: f64) -> String {
    let (left, twice, r) = (unit(x - r), unit(2.0 * r), unit(r));
    format!("M{left} {}a{r} {r} 0 1 0 {twice} 0a{r} {r} 0 1 0-{twice} 0z", unit(y))
}

/// A cross that reaches so far to each side.
pub fn cross(x: f64, y: f64, reach: f64) -> String {
    let side = unit(2.0 * reach);
    format!("M{} {}l{side} {side}m0-{side}l-{side} {side}", unit(x - reach), unit(y - reach))
}

/// A point, by the round ends of a line of no length.
pub fn dot(x: f64, y: f64) -> String {
    format!("M{} {}h0", unit(x), unit(y))
}

/// A straight line.
pub fn segment(from: (f64, f64), to: (f64, f64)) -> String {
    format!("M{} {}L{} {}", unit(from.0), unit(from.1), unit(to.0), unit(to.1))
}

/// A line through points.
pub fn polyline(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let point = |(at, (x, y)): (usize, (f64, f64))| {
        format!("{}{} {}", if at == 0 { 'M' } else { 'L' }, unit(x), unit(y))
    };
    points.into_iter().enumerate().map(point).collect()
}

/// A rectangle between two corners; it is never thinner than can be seen.
pub fn bar(corner: (f64, f64), other: (f64, f64)) -> String {
    let (x, y) = (corner.0.min(other.0), corner.1.min(other.1));
    let wide = (corner.0 - other.0).abs().max(0.6);
    let high = (corner.1 - other.1).abs().max(0.6);
    format!("M{} {}h{}v{}h-{}z", unit(x), unit(y), unit(wide), unit(high), unit(wide))
}

/// An interval as a line with ends across it, and its value as a circle.
pub fn interval(low: f64, value: f64, high: f64, y: f64) -> (String, String) {
    let end = |x: f64| segment((x, y - 5.0), (x, y + 5.0));
    (segment((low, y), (high, y)) + &end(low) + &end(high), circle(value, y, 3.0))
}

#[derive(Template)]
#[template(path = "plot.svg")]
struct Sheet<'s> {
    title: &'s str,
    about: &'s str,
    width: String,
    height: String,
    left: String,
    right: String,
    top: String,
    bottom: String,
    middle: String,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    has_x: bool,
    has_y: bool,
    tick_y: String,
    label_y: String,
    tick_x: String,
    x_label: &'s str,
    y_label: &'s str,
    marks: &'s [Marks],
    labels: &'s [Label],
    keys: Vec<Key>,
}
