"use strict";
// A click on a heading of a table.sortable sorts it. A cell sorts by data-value if it has one.
function valueOf(cell) {
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value.replace("inf", "Infinity"));
  const number = parseFloat(cell.textContent.replace("−", "-"));
  return Number.isNaN(number) ? null : number;
}
function sortBy(heading) {
  const table = heading.closest("table"), column = heading.cellIndex, body = table.tBodies[0];
  const asText = heading.dataset.sort === "text" || (column === 0 && heading.dataset.sort !== "number");
  const up = heading.getAttribute("aria-sort") !== "ascending";
  for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  const rows = [...body.rows].sort((a, b) => {
    const x = valueOf(a.cells[column]), y = valueOf(b.cells[column]);
    const order = asText || x === null || y === null
      ? a.cells[column].textContent.localeCompare(b.cells[column].textContent) : x - y;
    return up ? order : -order;
  });
  body.append(...rows);
}
for (const heading of document.querySelectorAll("table.sortable thead th"))
  heading.querySelector("button").addEventListener("click", () => sortBy(heading));
