//! The graph of a function: its blocks below each other, and the ways between them beside these.

use super::chart::{Chart, Ink, Titles, bar, unit};
use super::scale::Span;
use super::{Plot, short};

/// A block.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What is written beside the name.
    pub text: String,
    /// Its heat from 0 to 1: the length of its bar.
    pub heat: f64,
    /// Whether it ran; the others have a dashed edge.
    pub ran: bool,
}

/// A way from one block to another, by their places in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrow {
    /// Where it begins ...
    pub from: usize,
    /// ... and ends.
    pub to: usize,
}

/// Height of a block with the space below it.
const LINE: f64 = 30.0;
/// Edges of the blocks.
const LEFT: f64 = 110.0;
const RIGHT: f64 = 330.0;
/// Blocks that are drawn.
const MOST: usize = 120;

/// The blocks of a function in their order with the ways between them: those forward at the right,
/// those back (loops) dashed at the left. `None` without a block.
pub fn graph(name: &str, function: &str, nodes: &[Node], arrows: &[Arrow]) -> Option<Plot> {
    let shown = &nodes[..nodes.len().min(MOST)];
    let is_shown = |arrow: &&Arrow| arrow.from < shown.len() && arrow.to < shown.len();
    let arrows: Vec<Arrow> = arrows.iter().filter(is_shown).copied().collect();
    if shown.is_empty() {
        return None;
    }
    let rest = nodes.len() - shown.len();
    let more =
        if rest > 0 { format!(" {rest} further blocks are left out.") } else { String::new() };
    let titles = Titles {
        name,
        title: format!("Graph of {function}"),
        about: format!(
            "{} blocks in the order of their addresses and {} ways between them: forward at the \
             right, back at the left. The bar in a block is its share.{more}",
            shown.len(),
            arrows.len()
        ),
        x: String::new(),
        y: format!("blocks of {}, with their shares", short(function, 30)),
    };
    let field = Span { low: 0.0, high: 1.0 };
    let height = LINE * shown.len() as f64;
    let mut chart = Chart::new(titles, field, field, height).without_axes(0.0);
    for (at, node) in shown.iter().enumerate() {
        block(&mut chart, at, node);
    }
    let (back, forward): (Vec<Arrow>, Vec<Arrow>) =
        arrows.iter().partition(|arrow| arrow.to <= arrow.from);
    let way = |arrow: &Arrow| way(&chart, *arrow);
    let (forward, back): (String, String) =
        (forward.iter().map(way).collect(), back.iter().map(way).collect());
    chart.draw_with_key(Ink::Line, forward, "forward");
    chart.draw_with_key(Ink::Guide, back, "back: a loop");
    Some(chart.finish())
}

/// The middle of a block.
fn middle(chart: &Chart, at: usize) -> f64 {
    chart.top() + LINE * (at as f64 + 0.5)
}

fn block(chart: &mut Chart, at: usize, node: &Node) {
    let y = middle(chart, at);
    let share = if node.heat.is_finite() { node.heat.clamp(0.0, 1.0) } else { 0.0 };
    let frame = bar((LEFT, y - 10.0), (RIGHT, y + 10.0));
    chart.draw(if node.ran { Ink::Line } else { Ink::Other }, frame);
    if share > 0.0 {
        chart.draw(Ink::Area, bar((LEFT, y + 6.0), (LEFT + share * (RIGHT - LEFT), y + 10.0)));
    }
    chart.write(LEFT + 6.0, y + 3.0, "start", short(&format!("{}  {}", node.name, node.text), 34));
}

/// A curve with an arrowhead.
fn way(chart: &Chart, Arrow { from, to }: Arrow) -> String {
    let is_back = to <= from;
    let (x, away) = if is_back { (LEFT, -1.0) } else { (RIGHT, 1.0) };
    let (y0, y1) = (middle(chart, from) + 3.0, middle(chart, to) - 3.0);
    let far = x + away * (14.0 + 10.0 * (from.abs_diff(to) as f64).sqrt()).min(92.0);
    let tip =
        |dy: f64| format!("M{} {}L{} {}", unit(x), unit(y1), unit(x + away * 6.0), unit(y1 + dy));
    format!(
        "M{0} {1}C{2} {1} {2} {3} {0} {3}{4}{5}",
        unit(x),
        unit(y0),
        unit(far),
        unit(y1),
        tip(-4.0),
        tip(4.0)
    )
}
