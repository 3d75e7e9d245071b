/* Wakes each dial when it comes near the screen. All that it needs is in the page, but for Vega, which lies beside this file.
 * Without this script, or if it fails, the still picture and the sentence at the start stay. */
(() => {
  const address = new URL("dial-vega.js", document.currentScript.src);
  let vega; // one promise for all dials of the page
  const load = () =>
    (vega ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = () => resolve(window.dialVega);
      script.onerror = () => reject(new Error(`dial: ${address} did not load`));
      document.head.append(script);
    }));

  // What lies beside a drawing (its axis) keeps its width; the drawing takes the rest.
  const fit = async (view, chart, width) => {
    const beside = chart.firstElementChild.getBoundingClientRect().width - view.signal(width);
    const room = Math.floor(chart.clientWidth - beside);
    if (room > 50 && room !== view.signal(width)) await view.signal(width, room).runAsync();
  };

  const wake = async (dial) => {
    const { parse, View, expressionInterpreter: expr } = await load();
    const { spec, turn, sentence, start } = JSON.parse(dial.querySelector("script").textContent);
    const [frame, chart, slider, value] = [".dial-frame", ".dial-chart", "input", ".dial-value"].map((name) => dial.querySelector(name));
    const places = [...dial.querySelectorAll("[data-name]")];
    const texts = [...turn, ...sentence].filter(Array.isArray).map(([, written]) => written);
    value.setAttribute("aria-hidden", "true"); // from now on the slider says it
    frame.setAttribute("role", "img");
    frame.setAttribute("aria-label", frame.querySelector("img").alt);
    const view = new View(parse(spec, null, { ast: true }), { expr, renderer: "svg", container: chart, hover: false });
    dial.view = view; // for a curious reader's console, and for the tests

    const go = () => {
      const stop = slider.valueAsNumber;
      places.forEach((place, i) => (place.textContent = texts[i][stop]));
      slider.setAttribute("aria-valuetext", value.textContent);
      return view.signal("stop", stop).runAsync();
    };
    slider.value = start;
    slider.addEventListener("input", go);
    await go();
    const width = spec.signals.some(({ name }) => name === "childWidth") ? "childWidth" : "width"; // of panels above one another
    await fit(view, chart, width);
    new ResizeObserver(() => fit(view, chart, width)).observe(chart);
    dial.dataset.live = ""; // the drawing takes the picture's place
  };

  const near = new IntersectionObserver(
    (entries) => {
      for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
        near.unobserve(target);
        wake(target).catch((error) => {
          target.dataset.failed = "";
          console.error(error);
        });
      }
    },
    { rootMargin: "400px" },
  );
  document.querySelectorAll(".dial").forEach((dial) => near.observe(dial));
})();
