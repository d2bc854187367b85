// What the theme leaves without a name for screen readers, and without a key for those who have no mouse.
document$.subscribe(() => {
  document.querySelector("[data-md-component=search]")?.setAttribute("aria-label", "Search");
  for (const nested of document.querySelectorAll("nav.md-nav[data-md-level]")) {
    const title = nested.querySelector(":scope > .md-nav__title")?.textContent.trim();
    if (title) nested.removeAttribute("aria-labelledby"), nested.setAttribute("aria-label", title);
  }
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) wide.tabIndex = 0;
});
