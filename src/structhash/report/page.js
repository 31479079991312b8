"use strict";
// Sort tables by a click on a column's name. Missing values stay last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numbers = head.classList.contains("number");
      const before = head.getAttribute("aria-sort");
      const up = before ? before === "descending" : !numbers; // numbers begin with the largest
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const keyed = [...table.tBodies[0].rows].map((row) => {
        const cell = row.cells[column];
        const text = cell.dataset.value ?? cell.textContent;
        return { row, text, number: text === "" ? NaN : Number(text) };
      });
      keyed.sort((a, b) => {
        if (!numbers) return (up ? 1 : -1) * a.text.localeCompare(b.text, undefined, { numeric: true });
        if (Number.isNaN(a.number) || Number.isNaN(b.number)) return Number.isNaN(a.number) - Number.isNaN(b.number);
        return (up ? 1 : -1) * (a.number - b.number);
      });
      table.tBodies[0].append(...keyed.map((each) => each.row));
    });
  });
}
// A table that does not show all its rows or columns fades at that edge.
for (const area of document.querySelectorAll(".scroll")) {
  const see = () => {
    area.classList.toggle("right", area.scrollLeft + area.clientWidth < area.scrollWidth - 1);
    area.classList.toggle("below", area.scrollTop + area.clientHeight < area.scrollHeight - 1);
  };
  area.addEventListener("scroll", see, { passive: true });
  new ResizeObserver(see).observe(area);
}
// Show one option of a choice at a time.
for (const choice of document.querySelectorAll(".choice")) {
  const parts = [...choice.children];
  if (parts.length < 2) continue;
  const label = document.createElement("label"), select = document.createElement("select");
  label.className = "picker";
  label.append(choice.dataset.label + " ", select);
  parts.forEach((part, number) => select.add(new Option(part.dataset.option, String(number))));
  const show = () => parts.forEach((part, number) => { part.hidden = String(number) !== select.value; });
  select.addEventListener("change", show);
  choice.classList.add("picked");
  choice.prepend(label);
  show();
}
