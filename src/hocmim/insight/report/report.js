"use strict";
// The list of all features, colours, and copying. Names of columns are untrusted: they become text
// nodes, never markup.
(() => {
const { features } = JSON.parse(document.getElementById("data").textContent);
const ROWS = 12, MORE_ROWS = 200;

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
function named(text) {
  if (text.trim()) return element("bdi", { class: "name", title: text }, text);
  return element("i", { class: "nameless" }, text === "" ? "empty name" : "blank name");
}
const number = value => value.toFixed(4).replace("-", "−");

// --- the list -------------------------------------------------------------------------------------
// A feature is [index, name, relevance, place, index of the one that repeats it, share].
const input = document.getElementById("search"), body = document.querySelector("#found tbody");
const more = document.getElementById("more"), answer = document.getElementById("answer");
const rank = new Map(features.map(([index], at) => [index, at + 1]));
const folded = features.map(feature => feature[1].normalize("NFKC").toLowerCase());
const nameOf = index => features[rank.get(index) - 1][1];
let found = features;

function find(text) {
  const wanted = text.normalize("NFKC").toLowerCase().trim();
  if (!wanted) return features;
  const column = /^#?\d+$/.test(wanted) ? Number(wanted.replace("#", "")) : -1;
  const exact = features.filter((feature, at) => folded[at].trim() === wanted || feature[0] === column);
  const others = features.filter((feature, at) => folded[at].includes(wanted) && !exact.includes(feature));
  return [...exact, ...others];
}
function row(feature) {
  const [index, name, relevance, place, by, share] = feature;
  const button = element("button", { type: "button", class: "why", "data-feature": index }, named(name));
  const repeated = by === undefined ? ["–"] : [named(nameOf(by)), element("span", { class: "share" }, ` ${share}`)];
  return element("tr", {}, element("td", {}, rank.get(index).toLocaleString("en")), element("td", { class: "feature" }, button),
    element("td", {}, number(relevance)), element("td", {}, place ? `${place}` : "–"), element("td", { class: "feature" }, ...repeated));
}
function show(most) {
  body.replaceChildren(...found.slice(0, most).map(row));
  more.hidden = found.length <= most;
  document.getElementById("n-found").textContent = found.length
    ? `${Math.min(most, found.length).toLocaleString("en")} of ${found.length.toLocaleString("en")} features, the most relevant first`
    : "No feature matches.";
}
function choose(index) {
  const known = document.getElementById(`feature-${index}`);
  const [, name, relevance, place] = features[rank.get(index) - 1];
  const tag = element("span", { class: place ? "tag selected" : "tag" }, place ? `selected as number ${place}` : "not selected");
  const content = known ? known.querySelector(".body").cloneNode(true)
    : element("p", { class: "reason" }, `It was not selected. Its relevance is ${number(relevance)} nats, number ` +
      `${rank.get(index).toLocaleString("en")} of ${features.length.toLocaleString("en")}. Its score at each step is not on this page.`);
  answer.replaceChildren(element("h3", {}, named(name), tag), content);
}
input.addEventListener("input", () => { found = find(input.value); show(ROWS); });
input.addEventListener("keydown", event => {
  if (event.key === "Enter" && found.length) choose(found[0][0]);
});
more.addEventListener("click", () => show(body.rows.length + MORE_ROWS));
document.addEventListener("click", event => {
  const button = event.target.closest("button.why");
  if (!button) return;
  choose(Number(button.dataset.feature));
  document.getElementById("search").scrollIntoView({ block: "start" });
});
show(ROWS);

// --- colours, copying -----------------------------------------------------------------------------
const root = document.documentElement, systemDark = matchMedia("(prefers-color-scheme: dark)");
document.getElementById("theme").addEventListener("click", () => {
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches;
  root.dataset.theme = isDark ? "light" : "dark";
});
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // no clipboard for a page opened from a file, in some browsers
    const area = document.body.appendChild(element("textarea"));
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
for (const button of document.querySelectorAll("button.copy"))
  button.addEventListener("click", async () => {
    await copy(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
root.dataset.ready = "yes";
})();
