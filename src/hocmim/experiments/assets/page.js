"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

// --- tabs -----------------------------------------------------------------------------------------
function show(tabs, chosen) {
  for (const button of tabs.querySelectorAll("button")) {
    const on = button === chosen;
    button.setAttribute("aria-selected", on);
    document.getElementById(button.dataset.panel).hidden = !on;
  }
  drawVisible();
}
for (const tabs of document.querySelectorAll(".tabs")) {
  const buttons = tabs.querySelectorAll("button");
  for (const button of buttons) button.addEventListener("click", () => show(tabs, button));
}

// --- curves ---------------------------------------------------------------------------------------
function paint(number) {
  const colour = data.colours[number % data.colours.length], dashed = number >= data.colours.length;
  return dashed ? `repeating-linear-gradient(90deg, ${colour} 0 3px, transparent 3px 5px)` : colour;
}
function element(name, attributes, parent) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  parent.append(node);
  return node;
}
function ticks(low, high) {
  const rough = (high - low) / 7 || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough);
  const found = [];
  for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + 1e-9; t += step) found.push(+t.toPrecision(6));
  return found;
}
function draw(box) {
  const curves = data.curves[box.dataset.curves];
  if (!curves || !box.clientWidth) return;
  const width = box.clientWidth, height = Math.max(260, Math.min(420, width * 0.55));
  const left = 46, right = 10, top = 12, bottom = 36;
  const names = Object.keys(curves.lines), all = names.flatMap(n => curves.lines[n]);
  const longest = Math.max(...names.map(n => curves.lines[n].length));
  let low = Math.min(...all), high = Math.max(...all);
  const room = (high - low) * 0.04 || 0.01; low -= room; high += room;
  const x = m => left + (longest > 1 ? (m - 1) / (longest - 1) : 0.5) * (width - left - right);
  const y = v => { const share = (v - low) / (high - low);
    return top + (curves.down ? share : 1 - share) * (height - top - bottom); };
  box.querySelector("svg")?.remove();
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": curves.title }, box);
  for (const t of ticks(low, high)) {
    element("line", { class: "axis", x1: left, x2: width - right, y1: y(t), y2: y(t) }, svg);
    element("text", { x: left - 6, y: y(t) + 4, "text-anchor": "end" }, svg).textContent = t;
  }
  for (const t of ticks(1, longest).filter(t => Number.isInteger(t)))
    element("text", { x: x(t), y: height - bottom + 16, "text-anchor": "middle" }, svg).textContent = t;
  element("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, svg)
    .textContent = "number of features";
  const pressed = new Set([...box.parentNode.querySelectorAll(".legend button[aria-pressed=true]")].map(b => b.dataset.name));
  names.forEach((name, number) => {
    const points = curves.lines[name].map((v, i) => `${i ? "L" : "M"}${x(i + 1).toFixed(1)} ${y(v).toFixed(1)}`);
    const dim = pressed.size && !pressed.has(name) ? " dim" : "";
    element("path", { d: points.join(""), stroke: data.colours[number % data.colours.length],
      "stroke-dasharray": ["", "6 4", "2 3"][Math.floor(number / data.colours.length) % 3],
      class: (number === 0 ? "main" : "") + dim }, svg);
  });
  const line = element("line", { class: "pointer", y1: top, y2: height - bottom, visibility: "hidden" }, svg);
  svg.addEventListener("pointermove", event => point(event, box, curves, names, longest, x, line, width));
  svg.addEventListener("pointerdown", event => point(event, box, curves, names, longest, x, line, width));
  svg.addEventListener("pointerleave", () => { line.setAttribute("visibility", "hidden"); tipOf(box).style.display = "none"; });
}
function tipOf(box) { return box.querySelector(".tip"); }
function point(event, box, curves, names, longest, x, line, width) {
  const frame = box.getBoundingClientRect(), at = event.clientX - frame.left;
  const span = x(longest) - x(1) || 1;
  const m = Math.max(1, Math.min(longest, Math.round(1 + (at - x(1)) / span * (longest - 1))));
  line.setAttribute("x1", x(m)); line.setAttribute("x2", x(m)); line.setAttribute("visibility", "visible");
  const rows = names.map((name, number) => ({ name, number, value: curves.lines[name][m - 1] }))
    .filter(row => row.value !== undefined).sort((a, b) => a.value - b.value);
  const tip = tipOf(box);
  tip.replaceChildren();
  const head = document.createElement("b"); head.textContent = `${m} feature${m > 1 ? "s" : ""}`; tip.append(head);
  for (const row of rows) {
    const div = document.createElement("div"), mark = document.createElement("i");
    mark.style.background = paint(row.number);
    div.append(mark, `${row.value.toFixed(curves.digits)}  ${row.name}`); tip.append(div);
  }
  tip.style.display = "block";
  const past = x(m) > width / 2;
  tip.style.left = past ? "" : `${x(m) + 12}px`;
  tip.style.right = past ? `${width - x(m) + 12}px` : "";
  tip.style.top = "8px";
}
function addLegend(box) {
  const legend = box.parentNode.querySelector(".legend"), curves = data.curves[box.dataset.curves];
  if (!legend || !curves) return;
  legend.replaceChildren();
  Object.keys(curves.lines).forEach((name, number) => {
    const button = document.createElement("button"), mark = document.createElement("i");
    button.type = "button"; button.dataset.name = name; button.setAttribute("aria-pressed", "false");
    mark.style.background = paint(number);
    button.append(mark, name);
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true"); draw(box); });
    legend.append(button);
  });
}
const boxes = [...document.querySelectorAll(".chart")];
function drawVisible() { for (const box of boxes) if (box.offsetParent) draw(box); }
for (const box of boxes) addLegend(box);
for (const tabs of document.querySelectorAll(".tabs")) show(tabs, tabs.querySelector("button"));
const choice = document.getElementById("error-choice");
if (choice) {
  const box = document.getElementById("error-chart");
  const change = () => { box.dataset.curves = choice.value; addLegend(box); draw(box); };
  choice.addEventListener("change", change); change();
}
let pending;
addEventListener("resize", () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(drawVisible); });
drawVisible();
document.documentElement.dataset.ready = "yes";
