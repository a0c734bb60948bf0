// What somebody can use on a page: all that takes a key or a click, in the order of the page.
() => {
  const kinds = "a[href], button, input:not([type=hidden]), select, textarea, summary, " +
    "[tabindex], [role=button], [role=checkbox], [role=switch], [role=tab], [onclick]";
  const style = (node) => {
    const its = getComputedStyle(node);
    const ring = its.outlineStyle === "none" || its.outlineWidth === "0px" ? ""
      : its.outlineColor + its.outlineWidth;
    return [ring, its.boxShadow, its.borderColor, its.backgroundColor, its.textDecorationLine,
      its.fill, its.stroke].join("|");
  };
  const usable = (node) => node.checkVisibility({ visibilityProperty: true }) && !node.disabled &&
    node.getAttribute("tabindex") !== "-1" && !node.closest("[inert]");
  const said = (node) =>
    (node.textContent || node.getAttribute("aria-label") || node.name || "").trim().slice(0, 40);
  const nodes = [...document.querySelectorAll(kinds)].filter(usable);
  const calm = nodes.map(style);
  window.keyboard = {
    names: nodes.map((node) => `<${node.tagName.toLowerCase()}> '${said(node)}'`),
    kinds: nodes.map((node) => /^(radio|checkbox)$/.test(node.type) ? node.type
      : node.getAttribute("role") ?? node.tagName.toLowerCase()),
    positive: nodes.filter((node) => node.tabIndex > 0).length,
    // The number of what has the focus, -1 for a scrolled part and the like, -2 for nothing.
    at: () => document.activeElement === document.body ? -2 : nodes.indexOf(document.activeElement),
    shows: () => style(document.activeElement) !== calm[nodes.indexOf(document.activeElement)],
    open: () => document.activeElement.parentElement.open,
    focus: (i) => nodes[i].focus(),
    clicks: 0,
  };
  document.addEventListener("click", () => { window.keyboard.clicks += 1; }, true);
  // Tab begins at the top, whatever was pressed before.
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute("tabindex");
  const { names, kinds: sorts, positive } = window.keyboard;
  return { names, kinds: sorts, positive };
}
