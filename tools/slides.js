/* Turns slides, shows notes, and makes each slide's text as large as fits. Without this script the slides scroll, one below the other. */
(() => {
  const slides = [...document.querySelectorAll("section")];
  const LEAST = 0.5; // of the usual size
  const full = (body) => body.scrollHeight > body.clientHeight + 1 || body.scrollWidth > body.clientWidth + 1;

  const fitDial = (dial) => {
    dial.style.zoom = 1;
    const room = dial.parentElement.getBoundingClientRect();
    const { width, height } = dial.getBoundingClientRect();
    dial.style.zoom = Math.min((room.height - 4) / height, (room.width - 4) / width, 3).toFixed(3);
  };

  const fit = () => {
    document.querySelectorAll(".drawing .dial").forEach(fitDial);
    for (const slide of slides) {
      const body = slide.querySelector(".body");
      let size = 1;
      body.style.setProperty("--size", size);
      while (full(body) && size > LEAST) body.style.setProperty("--size", (size -= 0.05).toFixed(2));
      slide.dataset.size = size.toFixed(2);
      if (full(body)) slide.dataset.full = "";
      else delete slide.dataset.full;
    }
  };

  const here = () => {
    const tops = slides.map((slide) => Math.abs(slide.getBoundingClientRect().top));
    return tops.indexOf(Math.min(...tops));
  };
  // a picture at twice its size; up and down move it
  const near = (slide) => {
    const image = slide.querySelector(".drawing > img");
    if (!image) return;
    const drawn = Math.min(image.clientWidth, (image.clientHeight * image.naturalWidth) / image.naturalHeight);
    if (slide.toggleAttribute("data-near")) slide.style.setProperty("--near", `${2 * drawn}px`);
    slide.querySelector(".body").scrollTop = 0;
  };
  const show = (number) => {
    slides.filter((slide) => "near" in slide.dataset).forEach(near);
    const slide = slides[Math.max(0, Math.min(slides.length - 1, number))];
    slide.scrollIntoView({ behavior: "instant" });
    history.replaceState(null, "", `#${slides.indexOf(slide) + 1}`);
    notes();
  };

  let told = false;
  const notes = () => slides.forEach((slide, k) => slide.querySelector(".notes")?.toggleAttribute("hidden", !told || k !== here()));

  const turn = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
  addEventListener("keydown", (event) => {
    if (event.target.matches("input") || event.ctrlKey || event.altKey || event.metaKey) return; // a dial's slider has the arrows
    const slide = slides[here()];
    if ("near" in slide.dataset && /^Arrow(Up|Down)$/.test(event.key)) slide.querySelector(".body").scrollBy(0, turn[event.key] * slide.clientHeight / 4);
    else if (event.key in turn) show(here() + turn[event.key]);
    else if (event.key === "Home") show(0);
    else if (event.key === "End") show(slides.length - 1);
    else if (event.key === "n") {
      told = !told;
      notes();
    } else if (event.key === "z") near(slide);
    else if (event.key === "f") document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen();
    else return;
    event.preventDefault();
  });
  addEventListener("scroll", notes);
  addEventListener("click", ({ target }) => target.matches(".drawing > img") && near(target.closest("section")));
  // the slider gives the arrows back when it is let go
  document.addEventListener("pointerup", ({ target }) => target.matches?.(".dial input") && target.blur());

  const start = async () => {
    if (window.MathJax?.typesetPromise) {
      await MathJax.startup.promise;
      await MathJax.typesetPromise();
    }
    await document.fonts.ready;
    await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
    fit();
    const asked = Number(location.hash.slice(1));
    if (asked) show(asked - 1);
    document.documentElement.dataset.ready = "";
  };
  let later;
  addEventListener("resize", () => {
    const place = here();
    clearTimeout(later);
    later = setTimeout(() => {
      fit();
      show(place);
    }, 150);
  });
  window.fitSlides = fit; // for the tests
  start();
})();
