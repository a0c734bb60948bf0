//! A plot as a file for a paper: SVG whose letters are outlines, or PNG.
//!
//! Text becomes outlines because programs that put figures into papers (Inkscape, librsvg, word
//! processors) do not load a font that an SVG holds as data, and a font of the reader's machine
//! would change the widths. The title and the description stay, as text.

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, WriteOptions};

/// Letters, Greek and signs (`fonts/README.md`).
const FONT: &[u8] = include_bytes!("../fonts/DejaVuSans.ttf");
const FAMILY: &str = "DejaVu Sans";
/// What the name of a file can end in.
pub const ENDINGS: [&str; 2] = ["svg", "png"];
/// Pixels of a PNG for each unit of the SVG: 300 for an inch of 96 units.
const SCALE: f32 = 300.0 / 96.0;

/// The plot as a file with this ending.
///
/// # Errors
/// The ending is none that can be written; the plot cannot be drawn.
pub fn file(svg: &str, ending: &str) -> Result<Vec<u8>, String> {
    match ending {
        "svg" => Ok(outlined(svg)?.into_bytes()),
        "png" => pixels(&tree(svg)?),
        other => Err(format!("there is no format .{other}: .svg and .png can be written")),
    }
}

fn tree(svg: &str) -> Result<Tree, String> {
    let mut options = Options { font_family: FAMILY.into(), ..Options::default() };
    let fonts = options.fontdb_mut();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    fonts.set_serif_family(FAMILY);
    fonts.set_monospace_family(FAMILY);
    Tree::from_str(svg, &options).map_err(|error| format!("the plot cannot be drawn: {error}"))
}

/// The SVG with outlines in place of letters, and with its own title and description.
fn outlined(svg: &str) -> Result<String, String> {
    let precision = WriteOptions {
        coordinates_precision: 3,
        transforms_precision: 5,
        ..WriteOptions::default()
    };
    let drawn = tree(svg)?.to_string(&precision);
    let names: String = ["title", "desc"].iter().filter_map(|name| element(svg, name)).collect();
    Ok(match drawn.find("<svg").and_then(|begin| Some(begin + drawn[begin..].find('>')? + 1)) {
        Some(at) => format!("{}\n    {names}{}", &drawn[..at], &drawn[at..]),
        None => drawn,
    })
}

/// The first element of a name, as it is written.
fn element<'s>(svg: &'s str, name: &str) -> Option<&'s str> {
    let begin = svg.find(&format!("<{name}>")).or_else(|| svg.find(&format!("<{name} ")))?;
    let closing = format!("</{name}>");
    let end = begin + svg[begin..].find(&closing)? + closing.len();
    Some(&svg[begin..end])
}

/// Pixels on white: transparent ones would be black in some programs.
fn pixels(tree: &Tree) -> Result<Vec<u8>, String> {
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or("the plot has no size")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("the plot is too large")?;
    pixels.fill(Color::WHITE);
    resvg::render(tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| format!("the PNG cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="96" height="48">
        <title>a &amp; b</title><desc>two words</desc>
        <text x="4" y="20" font-family="system-ui, sans-serif" font-size="12">x = 1 µs ≤ 2</text>
        <rect x="1" y="30" width="40" height="8" fill="red"/></svg>"#;

    #[test]
    fn letters_of_an_svg_are_outlines() {
        let text = String::from_utf8(file(PLOT, "svg").unwrap()).unwrap();
        assert!(!text.contains("<text") && text.contains("<path"), "{text}");
        assert!(text.contains("<title>a &amp; b</title><desc>two words</desc>"), "{text}");
        assert!(!text.contains("font") && text.len() > 1000, "{text}");
        assert_eq!(text, String::from_utf8(file(&text, "svg").unwrap()).unwrap());
    }

    #[test]
    fn a_png_has_300_pixels_for_an_inch_and_letters_on_white() {
        let bytes = file(PLOT, "png").unwrap();
        let read = Pixmap::decode_png(&bytes).unwrap();
        assert_eq!((read.width(), read.height()), (300, 150));
        let dark = |pixel: &&resvg::tiny_skia::PremultipliedColorU8| pixel.red() < 80;
        assert!(read.pixels().iter().filter(dark).count() > 300);
        assert_eq!(read.pixel(299, 149).map(|corner| corner.green()), Some(255));
    }

    #[test]
    fn other_endings_and_damaged_plots_are_refused() {
        assert!(file(PLOT, "jpeg").is_err_and(|reason| reason.contains(".svg and .png")));
        assert!(file("<svg", "png").is_err_and(|reason| reason.contains("cannot be drawn")));
        assert!(file("", "svg").is_err());
    }
}
