// Wakes and turns every dial of the page and hands back what it saw (the last argument is the callback; axe is loaded already).
const done = arguments[arguments.length - 1];
const until = async (holds) => {
  for (let i = 0; i < 400 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 20));
  return holds();
};
const height = (element) => element.getBoundingClientRect().height;

const look = async (dial) => {
  dial.scrollIntoView({ block: "center" });
  if (!(await until(() => "live" in dial.dataset || "failed" in dial.dataset)) || "failed" in dial.dataset) return { live: false };
  const slider = dial.querySelector("input");
  const { turn, sentence, start, last, expected } = JSON.parse(dial.querySelector("script").textContent);
  const write = (parts, stop) => parts.map((part) => (Array.isArray(part) ? part[1][stop] : part)).join("");
  const [value, output] = [dial.querySelector(".dial-value"), dial.querySelector("output")];

  // Python's numbers and sentences lie in the page; what the reader sees, and what the drawing is made from, must be the same.
  const stops = [];
  for (const [row, stop] of expected.stops.entries()) {
    slider.value = stop;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await dial.view.runAsync();
    const numbers = Object.entries(expected.numbers).map(([name, values]) => [name, dial.view.signal(name), values[row]]);
    stops.push({
      stop,
      height: height(dial),
      cut: height(dial.querySelector(".dial-chart svg")) > height(dial.querySelector(".dial-frame")) + 1,
      said: [value.textContent, output.textContent],
      meant: [write(turn.slice(1), stop), write(sentence, stop)],
      spoken: slider.getAttribute("aria-valuetext"),
      wrong: numbers.filter(([, shown, meant]) => Math.abs(shown - meant) > 1e-4 * Math.abs(meant) + 1e-8),
      drawing: dial.querySelector(".dial-chart").innerHTML,
    });
  }
  delete dial.dataset.live;
  const asleep = height(dial);
  dial.dataset.live = "";
  const atOne = [write(turn.slice(1), 1), write(sentence, 1)];
  const image = dial.querySelector("img");
  return { live: true, start, last, stops, asleep, atOne, id: slider.id, alt: image.alt, spoken: dial.querySelector("[role=img]")?.ariaLabel };
};

(async () => {
  const dials = [];
  for (const dial of document.querySelectorAll(".dial")) dials.push(await look(dial));
  const { violations } = await window.axe.run({ include: [[".dial"]] }, { resultTypes: ["violations"] });
  done({ dials, violations: violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 80)).join(" | ")}`) });
})();
