// Excerpts of search results show prose: no code, no outputs, no TeX; and a page stands once in their list.
if (typeof Search !== "undefined") {
  const whole = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll(".cell, .highlight, .math, nav, .prev-next-footer").forEach((part) => part.remove());
    return whole(page.documentElement.outerHTML, anchor);
  };
  const all = Search._performSearch;
  Search._performSearch = (...query) => {
    const seen = new Set(); // the best comes last
    const first = ([page, , , object]) => object || (!seen.has(page) && seen.add(page));
    return all(...query).reverse().filter(first).reverse();
  };
  // Opened from a folder, a page may not fetch another one: there the list comes without excerpts.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
