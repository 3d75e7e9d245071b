// Above each long table: a choice for every column of few values, one of "at most" for a column of numbers, and a word to look for.
for (const table of document.querySelectorAll("table.filtered")) {
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, cells: [...row.cells].map((cell) => cell.textContent.trim()) }));
  const bar = document.createElement("form");
  bar.className = "filter-bar";
  const tests = [];
  const add = (words, control, test) => {
    const label = document.createElement("label");
    label.append(words, control);
    bar.append(label);
    tests.push((cells) => !control.value || test(cells, control.value));
  };
  const count = document.createElement("output");
  const show = () => {
    let left = 0;
    for (const { row, cells } of rows) {
      row.hidden = !tests.every((test) => test(cells));
      left += !row.hidden;
    }
    count.textContent = left === rows.length ? `${left} rows` : `${left} of ${rows.length} rows`;
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const values = [...new Set(rows.map(({ cells }) => cells[column]))];
    const numbers = values.every((value) => value && !isNaN(value));
    if (!numbers && values.length > 12) return;
    const select = document.createElement("select");
    select.append(new Option("any", ""));
    const most = Math.max(...values.map(Number));
    for (const value of numbers ? [15, 20, 30, 45, 60].filter((value) => value < most) : values)
      select.append(new Option(numbers ? `at most ${value}` : value, value));
    add(head.textContent.trim(), select, numbers ? (cells, value) => +cells[column] <= +value : (cells, value) => cells[column] === value);
  });
  const words = document.createElement("input");
  words.type = "search";
  add("With the words", words, (cells, value) => value.toLowerCase().split(/\s+/).every((word) => cells.join(" ").toLowerCase().includes(word)));
  for (const change of ["input", "change"]) bar.addEventListener(change, show); // not every browser tells of both
  bar.addEventListener("submit", (event) => event.preventDefault());
  bar.append(count);
  (table.closest(".pst-scrollable-table-container") || table).before(bar);
  show();
}
