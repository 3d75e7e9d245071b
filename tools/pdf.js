// Makes one document of the site's pages, in the browser that prints it (Selenium's execute_async_script): the page that is open
// lends its styles and its formulas' program. Ids get their page's name before them, and links lead to these.
const [{ title, subtitle, author, date, parts }, done] = arguments;
const slug = (name) => name.replaceAll("/", "-");
const names = parts.flatMap((part) => part.pages);
const UNPRINTED = "script, .headerlink, .hints, .sheet-door, .tag_hide-input details.hide, .cell.tag_setup, .animation, .dial input";
const home = new URL(document.documentElement.dataset.content_root || "./", location.href).href;
const nameOf = (url) => url.href.startsWith(home) && url.pathname.slice(new URL(home).pathname.length).replace(/\.html$/, "");

const element = (tag, attributes, ...children) => {
  const made = Object.assign(document.createElement(tag), attributes);
  made.append(...children);
  return made;
};

const styled = (href) =>
  new Promise((resolve) => document.head.prepend(element("link", { rel: "stylesheet", href, onload: resolve, onerror: resolve })));

const ownPlaces = (article, name) => {
  const base = home + name + ".html";
  for (const it of article.querySelectorAll("[id]")) it.id = `${slug(name)}--${it.id}`;
  for (const image of article.querySelectorAll("img[src]")) image.src = new URL(image.getAttribute("src"), base).href;
  for (const link of article.querySelectorAll("a[href]")) {
    const url = new URL(link.getAttribute("href"), base);
    const target = nameOf(url);
    if (names.includes(target)) link.setAttribute("href", "#" + slug(target) + (url.hash && "--" + decodeURIComponent(url.hash.slice(1))));
    else if (url.href.startsWith(home)) link.removeAttribute("href"); // a file to take away, or a page that is not printed
  }
};

const read = async (name) => {
  const answer = await fetch(home + name + ".html");
  if (!answer.ok) throw new Error(`${answer.status} ${answer.url}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const { href } of page.querySelectorAll('link[rel="stylesheet"]')) {
    const file = new URL(href.replace(/^.*_static/, home + "_static")).href;
    if (![...document.styleSheets].some((sheet) => sheet.href === file)) await styled(file);
  }
  const article = document.importNode(page.querySelector("article"), true);
  for (const gone of article.querySelectorAll(UNPRINTED)) {
    gone.remove();
  }
  ownPlaces(article, name);
  article.id = slug(name);
  for (const heading of article.querySelectorAll("h1, h2, h3, h4, h5")) heading.ariaLevel = +heading.tagName[1] + 1; // under its part
  return article;
};

const heading = (article) => article.querySelector("h1:not(.paper-part)").textContent.replace(/^([\d.]+)\. /, "$1 ");
const quoted = (words) => JSON.stringify(words.replace(/\s+/g, " ").trim());

(async () => {
  const articles = new Map();
  for (const name of names) articles.set(name, await read(name));
  const row = (name) =>
    element("li", {}, element("a", { href: "#" + slug(name) }, element("span", {}, heading(articles.get(name))), element("b", {})));
  const contents = element("nav", { className: "paper-contents" }, element("h1", {}, "Contents"));
  const book = [];
  const styles = [];
  parts.forEach((part, k) => {
    contents.append(element("h2", { role: "presentation" }, part.title), element("ul", {}, ...part.pages.map(row)));
    part.pages.forEach((name, i) => {
      const article = articles.get(name);
      if (i === 0) article.prepend(element("h1", { className: "paper-part" }, part.title));
      article.style.page = `p${k}-${i}`;
      const left = `@top-left { content: ${quoted(part.title)} }`;
      styles.push(`@page p${k}-${i} { ${left} @top-right { content: ${quoted(heading(article))} } }`);
      book.push(article);
    });
  });
  const front = element("div", { className: "paper-title" });
  front.append(element("p", { className: "name" }, title), element("p", {}, subtitle), element("p", {}, author), element("p", {}, date));
  const inner = element("div", { className: "bd-article-container" }, ...book);
  const frame = element("main", { className: "bd-main" }, element("div", { className: "bd-content" }, inner));
  document.head.append(element("style", {}, styles.join("\n")));
  document.body.replaceChildren(front, contents, frame);
  document.body.className = "paper";
  document.title = title;
  document.documentElement.dataset.theme = "light";
  await MathJax.startup.promise;
  MathJax.startup.document.options.enableAssistiveMml = false;
  MathJax.startup.document.clear();
  await MathJax.typesetPromise(book);
  await document.fonts.ready;
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  dispatchEvent(new Event("beforeprint"));
  done(null);
})().catch((error) => done(String(error.stack || error)));
