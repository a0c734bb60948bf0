// What of a page is cut, overlaps or does not fit its window; called with nothing, gives sentences.
() => {
  const faults = [];
  const root = document.documentElement;
  const named = (node) => {
    const said = (node.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
    return `<${node.tagName.toLowerCase()}${node.id ? "#" + node.id : ""}> '${said}'`;
  };
  const seen = (node) => node.checkVisibility({ visibilityProperty: true });
  const contained = (node) => {
    const outer = node.parentElement;
    if (!outer || outer === document.body) return false;
    return getComputedStyle(outer).overflowX !== "visible" || contained(outer);
  };
  if (root.scrollWidth > window.innerWidth) {
    const wide = [...document.body.querySelectorAll("*")].filter(
      (node) => node.getBoundingClientRect().right > window.innerWidth + 1 && !contained(node),
    );
    faults.push(`the page is ${root.scrollWidth} px wide in ${window.innerWidth}: ` +
      wide.slice(-3).map(named).join(", "));
  }
  // visually hidden text for screen readers is cut on purpose
  const hidden = (node) => node.clientWidth <= 2 || node.clientHeight <= 2;
  for (const node of document.body.querySelectorAll("*:not(svg):not(svg *)")) {
    const style = getComputedStyle(node);
    const clips = /hidden|clip/.test(style.overflowX) && node.scrollWidth > node.clientWidth + 1;
    if (clips && seen(node) && !hidden(node)) faults.push(`${named(node)} is cut`);
  }
  // A number that goes on in the next line is read as two.
  const broken = (node) => [...node.data.matchAll(/[-+]?\d[\d,.]*/g)].find((found) => {
    const range = document.createRange();
    range.setStart(node, found.index);
    range.setEnd(node, found.index + found[0].length);
    return found[0].length < 16 && new Set([...range.getClientRects()].map((box) => box.top)).size > 1;
  });
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const found = node.parentElement.closest("td, th, strong, dd") && broken(node);
    if (found) faults.push(`the number ${found[0]} is broken in ${named(node.parentElement)}`);
  }
  const overlap = (a, b) =>
    Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) *
    Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  const area = (box) => box.width * box.height;
  for (const plot of document.querySelectorAll("svg")) {
    if (!seen(plot)) continue;
    const frame = plot.getBoundingClientRect();
    const texts = [...plot.querySelectorAll("text")].filter(seen)
      .map((node) => [node, node.getBoundingClientRect()]).filter(([, box]) => area(box) > 0);
    for (const [node, box] of texts) {
      const cut = frame.left - box.left > 1 || box.right - frame.right > 1 ||
        frame.top - box.top > 1 || box.bottom - frame.bottom > 1;
      if (cut) faults.push(`${named(node)} is cut at the edge of its plot`);
    }
    texts.slice(0, 400).forEach(([node, box], i) => {
      for (const [other, its] of texts.slice(i + 1, 400)) {
        if (overlap(box, its) > 0.25 * Math.min(area(box), area(its))) {
          faults.push(`${named(node)} and ${named(other)} overlap`);
        }
      }
    });
    const scale = (matrix) => (matrix ? Math.hypot(matrix.a, matrix.b) : 1);
    const small = texts.filter(([node]) =>
      parseFloat(getComputedStyle(node).fontSize) * scale(node.getScreenCTM()) < 8);
    if (small.length) faults.push(`${small.length} texts of a plot are smaller than 8 px: ` +
      named(small[0][0]));
  }
  return faults;
}
