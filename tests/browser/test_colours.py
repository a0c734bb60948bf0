"""The arithmetic of colours: known values, and Chromium's own simulation."""

import base64
from pathlib import Path

import pytest
from colours import DEFICIENCIES, Triple, apart, contrast, lab, name, parse, simulated, too_close
from playwright.sync_api import Browser
from visit import visit

OKABE_ITO = ["#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"]


def test_contrast_of_wcag() -> None:
    assert contrast(parse("#000000"), parse("#ffffff")) == pytest.approx(21)
    assert contrast(parse("#777777"), parse("#ffffff")) == pytest.approx(4.48, abs=0.005)


def test_cielab_of_white_and_red() -> None:
    assert lab(parse("#ffffff")) == pytest.approx((100, 0, 0), abs=0.02)
    assert lab(parse("#ff0000")) == pytest.approx((53.24, 80.09, 67.20), abs=0.02)


def test_greys_stay_and_red_resembles_olive() -> None:
    for deficiency in DEFICIENCIES:
        assert simulated(parse("#808080"), deficiency) == pytest.approx((128, 128, 128), abs=1)
    assert apart(parse("#b04a00"), parse("#6f7400")) > 1
    assert apart(parse("#b04a00"), parse("#6f7400"), "deuteranopia") < 1


def test_the_palette_of_okabe_and_ito_is_told_apart_and_a_rainbow_is_not() -> None:
    assert too_close(map(parse, OKABE_ITO)) == []
    assert too_close(map(parse, ["#ff0000", "#ff8000", "#80ff00", "#00ff00", "#00ff80"]))


PIXELS = """
async (picture) => {
  const image = new Image();
  image.src = "data:image/png;base64," + picture;
  await image.decode();
  const dots = document.createElement("canvas").getContext("2d");
  dots.canvas.width = image.width;
  dots.drawImage(image, 0, 0);
  return [...Array(8).keys()].map((i) => [...dots.getImageData(20 * i + 10, 10, 1, 1).data]);
}
"""


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_chromium_shows_what_the_arithmetic_says(
    browser: Browser, tmp_path: Path, deficiency: str
) -> None:
    blocks = "".join(
        f"<rect x='{20 * i}' width='20' height='20' fill='{c}'/>" for i, c in enumerate(OKABE_ITO)
    )
    file = tmp_path / "palette.html"
    file.write_text(f"<body style='margin:0'><svg width='160' height='20'>{blocks}</svg>")
    with visit(browser, file) as opened:
        session = opened.page.context.new_cdp_session(opened.page)
        session.send("Emulation.setEmulatedVisionDeficiency", {"type": deficiency})
        picture = opened.page.screenshot()
    with visit(browser, file) as opened:
        seen = opened.page.evaluate(PIXELS, base64.b64encode(picture).decode())
    for colour, pixel in zip(OKABE_ITO, seen, strict=True):
        shown: Triple = (pixel[0], pixel[1], pixel[2])
        expected = simulated(parse(colour), deficiency)
        assert shown == pytest.approx(expected, abs=2), f"{colour}: {name(shown)}"
