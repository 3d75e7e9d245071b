// A formula that is wider than a sheet of A4 is set smaller on paper, where nobody can scroll to its end (book.css).
addEventListener("beforeprint", () => {
  const width = (element) => element.getBoundingClientRect().width;
  for (const formula of document.querySelectorAll(".bd-article div.math")) {
    const share = width(formula) / width(formula.closest(".bd-article")); // less than one in a box
    const room = 46 * share - (formula.querySelector(".eqno") ? 5 : 0);
    const wide = Math.max(...[...formula.querySelectorAll("mjx-math")].map(width)) / parseFloat(getComputedStyle(formula).fontSize);
    if (wide > room) formula.style.setProperty("--on-paper", room / wide);
  }
});
