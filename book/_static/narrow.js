// On a phone a displayed formula that is somewhat wider than the column is set smaller; one that is much wider is moved sideways.
const narrow = matchMedia("(max-width: 600px)");
const least = 0.6; // of the size of the text
const fit = (part) => {
  for (const formula of narrow.matches ? part.querySelectorAll(".bd-article div.math") : []) {
    formula.style.removeProperty("--on-phone");
    const wide = Math.max(...[...formula.querySelectorAll("mjx-math")].map((math) => math.getBoundingClientRect().width));
    const size = (formula.clientWidth - (formula.querySelector(".eqno")?.offsetWidth ?? 0) - 1) / wide;
    if (size > least && size < 1) formula.style.setProperty("--on-phone", size);
  }
};
addEventListener("load", () => window.MathJax?.startup?.promise.then(() => fit(document)));
narrow.addEventListener("change", () => fit(document));
addEventListener("toggle", (event) => fit(event.target), true); // what is folded has no width
