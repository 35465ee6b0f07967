"use strict";
// The answer to a search: the selected feature it shares most with, its cluster, its substitutes.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
if (!data.relations) return;
const { minShare, substitutes } = data.relations;
const bytes = text => Uint8Array.from(atob(text), character => character.charCodeAt(0));
const nearest = new Int16Array(bytes(data.relations.nearest).buffer), share = bytes(data.relations.share);
const placeOf = new Map(data.selected.map((j, place) => [j, place]));
const MOST_MEMBERS = 30;
function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
function named(j) {
  const text = data.names[j];
  return text.trim() ? element("bdi", { class: "name", title: text }, text) : element("i", { class: "nameless" }, "blank name");
}
function members(place) {
  const found = [];
  for (let j = 0; j < nearest.length; j++)
    if (nearest[j] === place && share[j] >= minShare && data.selected[place] !== j) found.push(j);
  return found.sort((a, b) => share[b] - share[a] || a - b);
}
function add(list, term, items) {
  list.append(element("dt", {}, term), element("dd", {}, element("ul", {}, ...items)));
}
const box = document.getElementById("answer");
function extend() {
  const list = box.querySelector("dl");
  if (!list || list.dataset.related || box.dataset.feature === undefined) return;
  list.dataset.related = "yes";
  const j = +box.dataset.feature, place = placeOf.get(j);
  if (place === undefined) {
    if (nearest[j] >= 0) add(list, "Shares most with", [element("li", {}, named(data.selected[nearest[j]]), ` ${share[j]}%`)]);
    return;
  }
  const replaced = substitutes[place] ?? [];
  if (replaced.length) add(list, "Could be replaced by", replaced.map(([k, cost]) => element("li", {}, named(k), ` ${cost}`)));
  const near = members(place);
  if (near.length) {
    const items = near.slice(0, MOST_MEMBERS).map(k => element("li", {}, named(k), ` ${share[k]}%`));
    if (near.length > MOST_MEMBERS) items.push(element("li", { class: "faint" }, `… and ${(near.length - MOST_MEMBERS).toLocaleString("en")} more`));
    add(list, "Its cluster", items);
  }
}
new MutationObserver(extend).observe(box, { childList: true });
extend();
})();
