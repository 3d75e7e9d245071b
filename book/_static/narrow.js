// On a phone a displayed formula that is somewhat wider than the column is set smaller; one that is much wider is moved sideways,
// with the arrow keys, too: it is the only kind of formula at which the tab key stops.
const narrow = matchMedia("(max-width: 600px)");
const least = 0.58; // of the size of the text
const fit = (part) => {
  const formulas = narrow.matches ? [...part.querySelectorAll(".bd-article div.math")] : [];
  for (const formula of formulas) formula.style.removeProperty("--on-phone");
  // all are measured before one is changed: each look at a changed page lays all of it out anew
  const sizes = formulas.map((formula) => {
    const wide = Math.max(...[...formula.querySelectorAll("mjx-math")].map((math) => math.getBoundingClientRect().width));
    return (formula.clientWidth - (formula.querySelector(".eqno")?.offsetWidth ?? 0) - 1) / wide;
  });
  formulas.forEach((formula, i) => {
    if (sizes[i] > least && sizes[i] < 1) formula.style.setProperty("--on-phone", sizes[i]);
  });
  const moved = [...part.querySelectorAll(".bd-article div.math mjx-container")].map((one) => [one, one.scrollWidth > one.clientWidth]);
  for (const [formula, wide] of moved) wide ? (formula.tabIndex = 0) : formula.removeAttribute("tabindex");
};
addEventListener("load", () => window.MathJax?.startup?.promise.then(() => fit(document)));
narrow.addEventListener("change", () => fit(document));
addEventListener("toggle", (event) => fit(event.target), true); // what is folded has no width
