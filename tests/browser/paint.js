// The colours of texts and marks of each plot, with its background; the grid is no mark.
() => {
  const dot = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (css) => {
    dot.clearRect(0, 0, 1, 1);
    dot.fillStyle = "#000";
    dot.fillStyle = css;
    dot.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = dot.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) =>
    [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const digits = (value) => Math.round(value).toString(16).padStart(2, "0");
  const hex = (colour) => "#" + colour.slice(0, 3).map(digits).join("");
  const ground = (node) => {
    const layers = [];
    for (let outer = node; outer; outer = outer.parentElement) {
      layers.push(rgba(getComputedStyle(outer).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const drawn = (value) => value && value !== "none" && !value.startsWith("url");
  const shapes = "text, tspan, path, line, polyline, polygon, circle, rect, ellipse, use";
  const plots = [...document.querySelectorAll("svg")].filter((plot) => plot.checkVisibility());
  return plots.map((plot) => {
    const below = ground(plot);
    const texts = {};
    const marks = {};
    for (const node of plot.querySelectorAll(shapes)) {
      const grid = /grid/.test(node.getAttribute("class"));
      if (grid || !node.checkVisibility({ visibilityProperty: true })) continue;
      const style = getComputedStyle(node);
      const text = /^(text|tspan)$/.test(node.tagName);
      for (const side of text ? ["fill"] : ["fill", "stroke"]) {
        if (!drawn(style[side])) continue;
        let colour = rgba(style[side]);
        colour[3] *= parseFloat(style[side + "Opacity"]) * parseFloat(style.opacity);
        if (colour[3] === 0 || (side === "stroke" && parseFloat(style.strokeWidth) === 0)) continue;
        const shown = hex(over(colour, below));
        (text ? texts : marks)[shown] ||= (node.textContent || node.getAttribute("class") ||
          node.tagName).trim().slice(0, 30);
      }
    }
    return { ground: hex(below), texts, marks };
  });
}
