// Measures the page as it stands and hands the facts back (Selenium's execute_async_script: the last argument is the callback).
// The first argument is the screen's width: a phone widens its own idea of it, `innerWidth`, to fit a page that is too wide.
const [screenWidth, done] = arguments;
const nextFrame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));

const isVisible = (element) => {
  const box = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  return box.width > 1 && box.height > 1 && style.visibility !== "hidden" && style.display !== "none" && style.opacity !== "0";
};
const name = (element) => {
  const classes = typeof element.className === "string" ? element.className.trim().split(/\s+/).slice(0, 3).join(".") : "";
  const words = (element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
  return element.tagName.toLowerCase() + (classes ? "." + classes : "") + (words ? ` "${words}"` : "");
};

// ---- Colours: the contrast between a text and what lies behind it, by the Web Content Accessibility Guidelines' formula.
const parse = (colour) => {
  const numbers = (colour.match(/[\d.]+/g) || []).map(Number);
  const scale = colour.startsWith("color(") ? 255 : 1;
  return { rgb: numbers.slice(0, 3).map((x) => x * scale), alpha: numbers.length > 3 ? numbers[3] : 1 };
};
const over = (top, bottom) => top.rgb.map((x, i) => top.alpha * x + (1 - top.alpha) * bottom[i]);
const luminance = (rgb) => {
  const [r, g, b] = rgb.map((x) => x / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
let behind; // what lies behind an element, kept while one view is measured
const background = (element) => {
  if (!element) return [255, 255, 255];
  if (!behind.has(element)) {
    const layer = parse(getComputedStyle(element).backgroundColor);
    behind.set(element, layer.alpha === 1 ? layer.rgb : over(layer, background(element.parentElement)));
  }
  return behind.get(element);
};
const contrast = (element) => {
  const ground = background(element);
  const text = over(parse(getComputedStyle(element).color), ground);
  const [light, dark] = [luminance(text), luminance(ground)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
};

const measure = () => {
  behind = new Map();
  const article = document.querySelector("article, main") || document.body;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Text that readers see outside code and formulas, and in which no formula may be left over.
  const prose = [];
  const faint = [];
  const seen = new Set();
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const parent = text.parentElement;
    if (!text.textContent.trim() || parent.closest("script, style, mjx-container, noscript, title, svg")) continue;
    if (!parent.closest("pre, code")) prose.push(text.textContent);
    if (seen.has(parent) || parent.closest(".headerlink") || !isVisible(parent)) continue;
    seen.add(parent);
    const ratio = contrast(parent);
    if (ratio < 4.5) faint.push(`${name(parent)} ${ratio.toFixed(1)}`);
  }

  const width = screenWidth;
  const stays = (element) => {
    if (getComputedStyle(element).position === "fixed") return false;
    for (let node = element.parentElement; node; node = node.parentElement) {
      const style = getComputedStyle(node);
      if (style.overflowX !== "visible" || style.position === "fixed") return false;
    }
    return true;
  };
  const overflow = Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - width;
  const wide = (overflow > 0 ? all("*", document.body) : [])
    .filter((element) => !element.closest("mjx-assistive-mml, .sr-only, .visually-hidden"))
    .filter((element) => element.getBoundingClientRect().right > width + 1 && stays(element))
    .slice(0, 5)
    .map(name);
  // What cannot be scrolled is cut off: an inline formula wider than the column it stands in.
  const cut = all("mjx-container:not([display])", article)
    .filter((formula) => {
      const end = formula.getBoundingClientRect().right; // the theme clips what is wider than the column
      return isVisible(formula) && (end > width + 1 || end > formula.parentElement.getBoundingClientRect().right + 2);
    })
    .filter((formula) => !formula.closest("pre, table, div.math, .pst-scrollable-table-container, .output"))
    .map(name);

  // What is moved sideways by itself, each a trap for a thumb that scrolls the page.
  const scrollers = all('mjx-container[display="true"], pre, .output, .pst-scrollable-table-container, .sd-card-body, dt.sig', article)
    .filter((part) => part.scrollWidth > part.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(part).overflowX) && isVisible(part))
    .map(name);

  // A comma that begins a line, its formula at the end of the line before.
  const astray = all("mjx-container:not([display])", article).filter((formula) => {
    const after = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    after.currentNode = formula.closest("span.math") || formula;
    while (formula.contains(after.currentNode) || after.currentNode.contains(formula)) if (!after.nextNode()) return false;
    if (!/^[.,;:!?)]/.test(after.currentNode.textContent) || !isVisible(formula)) return false;
    const range = document.createRange();
    range.setStart(after.currentNode, 0);
    range.setEnd(after.currentNode, 1);
    const comma = range.getBoundingClientRect();
    return (comma.top + comma.bottom) / 2 > formula.getBoundingClientRect().bottom;
  });

  return {
    title: document.title,
    theme: document.documentElement.dataset.theme || "",
    height: document.documentElement.scrollHeight,
    // The theme keeps a second title for printing, which nobody sees or hears on a screen.
    h1: all("h1").filter((h) => h.checkVisibility()).map((h) => h.textContent.trim()),
    levels: all("h1, h2, h3, h4, h5, h6", article).filter((h) => h.checkVisibility()).map((h) => Number(h.tagName[1])),
    formulas: all("span.math, div.math").length,
    typeset: all("span.math, div.math").filter((f) => f.querySelector("mjx-container")).length,
    mathErrors: all("mjx-merror, [data-mjx-error], merror").map((e) => e.getAttribute("data-mjx-error") || e.textContent),
    rawMath: (prose.join("\n").match(/\$\$|\\\[|\\\(|\\begin\{|\\frac|\\theta/g) || []).slice(0, 5),
    images: all("img").map((image) => ({
      source: image.src.slice(0, 120),
      alt: image.getAttribute("alt"),
      decoration: image.getAttribute("role") === "presentation" || image.getAttribute("aria-hidden") === "true",
      broken: Boolean(image.src) && image.complete && image.naturalWidth === 0 && isVisible(image),
      drawn: Boolean(image.closest(".cell_output")),
      inFigure: Boolean(image.closest("figure")),
    })),
    figures: all("figure").map((figure) => (figure.querySelector("figcaption")?.textContent || "").trim()),
    links: all("a[href]").map((a) => a.href),
    ids: all("[id]").map((element) => element.id),
    resources: all("script[src], img[src], iframe[src], source[src], link[href]").map((e) => e.src || e.href),
    overflow,
    wide,
    cut,
    scrollers,
    astray: astray.map(name),
    faint: faint.slice(0, 8),
    language: document.documentElement.lang,
  };
};

(async () => {
  if (document.readyState !== "complete") await new Promise((resolve) => addEventListener("load", resolve));
  for (let i = 0; i < 100 && window.MathJax && !window.MathJax.startup?.promise; i++) await new Promise((r) => setTimeout(r, 20));
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  await nextFrame();
  await new Promise((resolve) => setTimeout(resolve, 60)); // the theme fades its colours
  let facts = measure();
  // On a busy machine the new width may not have reached every line yet; what stays wrong is a fault.
  for (let i = 0; i < 6 && (facts.cut.length || facts.overflow > 0); i++) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    facts = measure();
  }
  done(facts);
})();
