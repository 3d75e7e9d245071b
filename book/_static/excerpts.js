// Excerpts of search results show prose: no code, no outputs, no TeX.
if (typeof Search !== "undefined") {
  const whole = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll(".cell, .highlight, .math, nav, .prev-next-footer").forEach((part) => part.remove());
    return whole(page.documentElement.outerHTML, anchor);
  };
  // Opened from a folder, a page may not fetch another one: there the list comes without excerpts.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
