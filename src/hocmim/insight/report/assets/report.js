"use strict";
// Names of columns are untrusted input: they become text nodes or canvas text, never markup.
// Sentences and rounded numbers come from Python; this script only shows them.
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const charts = new Map();
window.reportCharts = charts;

// --- packed arrays --------------------------------------------------------------------------------
const KINDS = { f8: Float64Array, u1: Uint8Array, u2: Uint16Array, i2: Int16Array, u4: Uint32Array };
function unpack(text, kind) {
  const bytes = Uint8Array.from(atob(text), character => character.charCodeAt(0));
  return new KINDS[kind](bytes.buffer);
}
const D = data.names.length, K = data.selected.length, nSteps = data.best.length;
const relevance = unpack(data.relevance, "f8"), score = unpack(data.score, "f8");
const scores = unpack(data.scores, "f8"), bestScore = unpack(data.bestScore, "f8");
const curveCodes = unpack(data.curve.codes, "u2");
// The features with curves, and the column of each. The others were not scored.
const scored = unpack(data.curve.scored, "u4");
const curveColumn = new Map(Array.from(scored, (j, at) => [j, at]));
const nMembers = unpack(data.nMembers, "u2"), members = unpack(data.members, data.memberKind);
const partners = [data.mostRedundant, data.nextRedundant, data.mostSynergistic].map(text => unpack(text, "i2"));
const shared = data.redundancy.map(text => unpack(text, "f8"));
const firstMember = new Uint32Array(D + 1);
for (let j = 0; j < D; j++) firstMember[j + 1] = firstMember[j] + nMembers[j];
const placeOf = new Map(data.selected.map((j, place) => [j, place]));
const byRelevance = unpack(data.byRelevance, "u4");
const relevanceRank = new Uint32Array(D);
byRelevance.forEach((j, at) => { relevanceRank[j] = at + 1; });
const notesOf = new Map();
for (const [j, message] of data.notes) notesOf.set(j, [...(notesOf.get(j) ?? []), message]);

// --- text -----------------------------------------------------------------------------------------
function number(value, digits = 4) {
  if (Number.isNaN(value)) return "–";
  return (Math.abs(value) === Infinity ? `${value}`.replace("Infinity", "∞") : value.toFixed(digits)).replace("-", "−");
}
const nats = value => `${number(value)} nats`;
const count = n => n.toLocaleString("en");
function short(name, most) {
  const characters = [...name];
  return characters.length <= most ? name : characters.slice(0, most - 1).join("") + "…";
}
// A name on a canvas, isolated: direction marks in it do not affect the text around it.
const label = (j, most) => `\u2068${short(data.names[j].trim() ? data.names[j] : "(no name)", most)}\u2069`;
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
function named(j, most = Infinity) {
  const text = data.names[j];
  if (text.trim()) return element("bdi", { class: "name", title: text }, short(text, most));
  return element("i", { class: "nameless" }, text === "" ? "empty name" : "blank name");
}
// A name within a sentence.
const inWords = j => named(j, 80);
const best = step => [data.best[step - 1], bestScore[step - 1]];

// --- why: the sentences of selector.explain -------------------------------------------------------
// A sentence is [template, arguments …]. A number among the arguments is the index of a feature.
function sentence([template, ...values]) {
  const pieces = data.templates[template].split("{}");
  return pieces.flatMap((piece, at) => (at ? [typeof values[at - 1] === "number" ? inWords(values[at - 1]) : values[at - 1], piece] : [piece]));
}
const reason = j => data.reasons[j].flatMap((one, at) => (at ? [" ", ...sentence(one)] : sentence(one)));
function partner(which, j) {
  const share = which < 2 && data.shares[which][j] ? ` (${data.shares[which][j]})` : "";
  return element("li", {}, named(data.selected[partners[which][j]]), ` ${nats(shared[which][j])}${share}`);
}
function facts(j) {
  const list = element("dl"), place = placeOf.get(j);
  const add = (term, ...what) => list.append(element("dt", {}, term), element("dd", {}, ...what));
  add("Relevance", nats(relevance[j]), element("span", { class: "faint" }, ` · number ${count(relevanceRank[j])} of ${count(D)}`));
  if (!Number.isNaN(score[j])) add(place !== undefined ? "Score when selected" : data.bySearch ? "Score in the last step" : "Score", number(score[j]));
  const redundant = [0, 1].filter(which => partners[which][j] >= 0).map(which => partner(which, j));
  if (redundant.length) add("Redundant with", element("ul", {}, ...redundant));
  if (partners[2][j] >= 0) add("Synergy with", element("ul", {}, partner(2, j)));
  const set = members.subarray(firstMember[j], firstMember[j + 1]);
  if (set.length) {
    const names = [...set].flatMap((at, n) => (n ? [", ", named(data.selected[at])] : [named(data.selected[at])]));
    add("Representative set", ...names);
  }
  add("Coded as", data.encoding[j]);
  for (const message of notesOf.get(j) ?? []) add("Note", message);
  add("Column", data.columns ? data.columns[j].map(count).join(", ") : count(j));
  return list;
}
function answer(j) {
  const box = document.getElementById("answer"), place = placeOf.get(j);
  const tag = place === undefined ? element("span", { class: "tag" }, "not selected") : element("span", { class: "tag selected" }, `selected as number ${place + 1}`);
  const columns = element("div", { class: "columns" }, facts(j));
  if (curveColumn.has(j) && nSteps > 1) {
    const picture = element("div", { class: "chart", id: "answer-chart" }, element("canvas", { role: "img", "aria-label": "The score of the feature at each step" }));
    columns.append(element("figure", {}, element("figcaption", {}, data.together?.costs ? "Its score at each step, not divided by its cost" : "Its score at each step"), picture));
  } else columns.classList.add("single");
  box.replaceChildren(element("h3", {}, named(j), tag), element("p", { class: "reason" }, ...reason(j)), columns);
  box.dataset.feature = j;
  drawAnswer(j);
}

// --- search ---------------------------------------------------------------------------------------
const input = document.getElementById("search"), matches = document.getElementById("matches");
const MOST_MATCHES = 12;
const folded = data.names.map(name => name.normalize("NFKC").toLowerCase());
let active = -1;
function find(text) {
  const wanted = text.normalize("NFKC").toLowerCase().trim();
  if (!wanted) return [...byRelevance.subarray(0, MOST_MATCHES)];
  const tiers = [[], [], []];
  const asNumber = /^#?\d+$/.test(wanted) ? parseInt(wanted.replace("#", ""), 10) : -1;
  for (const j of byRelevance) {
    const at = folded[j].indexOf(wanted);
    const isNumber = data.columns ? data.columns[j].includes(asNumber) : j === asNumber;
    if (folded[j].trim() === wanted || isNumber) tiers[0].push(j);
    else if (at === 0 && tiers[1].length < MOST_MATCHES) tiers[1].push(j);
    else if (at > 0 && tiers[2].length < MOST_MATCHES) tiers[2].push(j);
  }
  return tiers.flat().slice(0, MOST_MATCHES);
}
function showMatches() {
  const found = find(input.value);
  matches.replaceChildren(...found.map((j, at) => {
    const place = placeOf.get(j);
    const tag = place === undefined ? element("span", { class: "tag" }, number(relevance[j], 3)) : element("span", { class: "tag selected" }, `selected, ${place + 1}`);
    const item = element("li", { role: "option", id: `match-${at}`, "data-feature": j, "aria-selected": "false" }, named(j), tag);
    item.addEventListener("pointerdown", event => { event.preventDefault(); choose(j); });
    return item;
  }));
  if (!found.length) matches.append(element("li", { class: "none" }, "No feature matches."));
  setOpen(true);
  setActive(found.length && input.value.trim() ? 0 : -1);
}
function setOpen(open) {
  matches.hidden = !open;
  input.setAttribute("aria-expanded", open);
}
function setActive(at) {
  const items = [...matches.querySelectorAll("li[data-feature]")];
  active = items.length ? Math.min(at, items.length - 1) : -1;
  items.forEach((item, n) => item.setAttribute("aria-selected", n === active));
  if (active >= 0) {
    input.setAttribute("aria-activedescendant", items[active].id);
    items[active].scrollIntoView({ block: "nearest" });
  } else input.removeAttribute("aria-activedescendant");
}
function choose(j) {
  input.value = data.names[j];
  setOpen(false);
  answer(j);
}
input.addEventListener("input", showMatches);
input.addEventListener("focus", () => { input.select(); showMatches(); });
input.addEventListener("blur", () => setOpen(false));
input.addEventListener("keydown", event => {
  const items = matches.querySelectorAll("li[data-feature]");
  if (event.key === "ArrowDown") { if (matches.hidden) showMatches(); setActive(active + 1); }
  else if (event.key === "ArrowUp") setActive(Math.max(0, active - 1));
  else if (event.key === "Enter" && active >= 0 && !matches.hidden) choose(+items[active].dataset.feature);
  else if (event.key === "Escape") setOpen(false);
  else return;
  event.preventDefault();
});
for (const button of document.querySelectorAll("button.why"))
  button.addEventListener("click", () => {
    choose(+button.dataset.feature);
    document.getElementById("why").scrollIntoView();
  });
const notSelected = [...byRelevance].filter(j => !placeOf.has(j));
const suggestions = document.getElementById("suggestions");
if (notSelected.length) {
  suggestions.append("Most relevant features not selected:");
  for (const j of notSelected.slice(0, 4)) {
    const button = element("button", { type: "button" }, named(j));
    button.addEventListener("click", () => choose(j));
    suggestions.append(button);
  }
}

// --- charts ---------------------------------------------------------------------------------------
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.font.size = 12.5;
Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.plugins.legend.labels.usePointStyle = true;
Chart.defaults.plugins.legend.labels.boxHeight = 7;
const probe = document.body.appendChild(element("span", { hidden: "" }));
function colour(name) {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}
function mixed(share, one, other) {
  const [a, b] = [one, other].map(text => text.match(/[\d.]+/g).map(Number));
  return `rgb(${[0, 1, 2].map(at => Math.round(a[at] + (b[at] - a[at]) * share)).join(",")})`;
}
function applyTheme() {
  Chart.defaults.color = colour("faint");
  Chart.defaults.borderColor = colour("grid");
  Object.assign(Chart.defaults.plugins.tooltip, {
    backgroundColor: colour("ink"), titleColor: colour("card"), bodyColor: colour("card"),
    padding: 10, cornerRadius: 8, boxPadding: 4, usePointStyle: true, titleMarginBottom: 5,
  });
}
function draw(id, config) {
  const canvas = document.querySelector(`#${id} canvas`);
  charts.get(id)?.destroy();
  charts.delete(id);
  if (canvas) charts.set(id, new Chart(canvas, config));
}
const drawable = value => (Number.isFinite(value) ? value : null);
const charactersFor = chart => (chart.width < 480 ? 14 : 30);
// Names are cut in narrow charts.
function nameAxis(indices, rank = true) {
  return {
    grid: { display: false }, border: { display: false },
    ticks: {
      autoSkip: false, color: colour("ink"),
      callback(_, at) { return `${label(indices[at], charactersFor(this.chart))}${rank ? `  ${at + 1}` : ""}`; },
    },
  };
}
function valueAxis(title) {
  return { title: { display: true, text: title }, grid: { color: colour("grid") }, border: { display: false }, beginAtZero: true };
}
function drawScores() {
  const shown = data.selected.slice(0, 40);
  const box = document.getElementById("score-chart");
  if (!box) return;
  box.style.height = `${78 + 27 * Math.max(shown.length, 2)}px`;
  const bars = [{ label: "score when selected", data: Array.from(scores.subarray(0, 40), drawable), backgroundColor: colour("blue"), barThickness: 9, borderRadius: 3 }];
  if (data.inNats)
    bars.push({ label: "relevance", data: shown.map(j => relevance[j]), backgroundColor: colour("pale"), barThickness: 17, borderRadius: 3 });
  for (const bar of bars) bar.grouped = false;
  draw("score-chart", {
    type: "bar",
    data: { labels: shown, datasets: bars },
    options: {
      indexAxis: "y", interaction: { mode: "index", intersect: false, axis: "y" },
      scales: { y: nameAxis(shown), x: valueAxis(data.inNats ? "nats" : "score") },
      plugins: {
        legend: { display: data.inNats, align: "end", reverse: true },
        tooltip: { callbacks: {
          title: items => `${items[0].dataIndex + 1}  ${label(shown[items[0].dataIndex], 60)}`,
          label: item => ` ${item.dataset.label}: ${data.inNats ? nats(item.parsed.x) : number(item.parsed.x)}`,
        } },
      },
    },
  });
}
function drawTogether() {
  const { counted, chance, supported, cells, rowsPerCell, entropy } = data.together;
  const line = (name, values, more) => ({ label: name, data: values, borderWidth: 2, pointRadius: K > 40 ? 0 : 3, pointHitRadius: 12, ...more });
  draw("together-chart", {
    type: "line",
    data: {
      labels: counted.map((_, at) => at + 1),
      datasets: [
        line("plug-in estimate", counted, { borderColor: colour("blue"), backgroundColor: colour("band"), pointBackgroundColor: colour("card"), borderWidth: 1.5, fill: { target: 1 } }),
        line("beyond chance", supported, { borderColor: colour("blue"), backgroundColor: colour("blue"), borderWidth: 2.5 }),
        line("due to chance", chance, { borderColor: colour("orange"), backgroundColor: colour("orange"), borderDash: [5, 4], pointStyle: "rectRot" }),
        line("entropy of the target, H(Y)", counted.map(() => entropy), { borderColor: colour("faint"), backgroundColor: colour("faint"), borderDash: [2, 3], pointRadius: 0, borderWidth: 1.5, pointStyle: "line" }),
      ],
    },
    options: {
      interaction: { mode: "index", intersect: false },
      scales: {
        x: { title: { display: true, text: "features selected" }, grid: { display: false }, ticks: { maxTicksLimit: 20, maxRotation: 0 } },
        y: { ...valueAxis("nats"), suggestedMax: entropy * 1.05 },
      },
      plugins: {
        legend: { position: "top", align: "start" },
        tooltip: { callbacks: {
          title: items => `${items[0].dataIndex + 1}  + ${label(data.selected[items[0].dataIndex], 60)}`,
          label: item => ` ${item.dataset.label}: ${nats(item.parsed.y)}`,
          footer: items => `${count(cells[items[0].dataIndex])} cells, ${rowsPerCell[items[0].dataIndex]} samples each on average`,
        } },
      },
    },
  });
}
function drawCosts() {
  const { counted, supported, costs, entropy } = data.together;
  if (!costs) return;
  const curve = values => [{ x: 0, y: 0 }, ...values.map((y, at) => ({ x: costs[at], y }))];
  const line = (name, values, more) => ({ label: name, data: curve(values), borderColor: colour("blue"), borderWidth: 2, pointRadius: K > 40 ? 0 : 3, pointHitRadius: 12, ...more });
  draw("cost-chart", {
    type: "line",
    data: {
      datasets: [
        line("plug-in estimate", counted, { backgroundColor: colour("band"), pointBackgroundColor: colour("card"), borderWidth: 1.5, fill: { target: 1 } }),
        line("beyond chance", supported, { backgroundColor: colour("blue"), borderWidth: 2.5 }),
      ],
    },
    options: {
      interaction: { mode: "index", intersect: false },
      scales: {
        x: { type: "linear", min: 0, title: { display: true, text: "cost of the selected features" }, grid: { display: false } },
        y: { ...valueAxis("nats"), suggestedMax: entropy * 1.05 },
      },
      plugins: {
        legend: { position: "top", align: "start" },
        tooltip: { callbacks: {
          title: items => items[0].dataIndex ? `cost ${items[0].parsed.x}  + ${label(data.selected[items[0].dataIndex - 1], 60)}` : "",
          label: item => ` ${item.dataset.label}: ${nats(item.parsed.y)}`,
        } },
      },
    },
  });
}
function drawMap() {
  const box = document.getElementById("map-chart"), n = data.map.length;
  if (!box) return;
  const cells = data.map.flatMap((row, y) => row.map((value, x) => ({ x, y, v: value })));
  const limit = Math.max(1e-12, ...cells.filter(c => c.x !== c.y).map(c => Math.abs(c.v)));
  const ends = { more: colour("heat-blue"), less: colour("heat-orange"), none: colour("heat-none"), own: colour("line") };
  const fill = c => (c.x === c.y ? ends.own : mixed(Math.min(1, Math.abs(c.v) / limit), ends.none, c.v > 0 ? ends.more : ends.less));
  box.style.height = `${60 + Math.max(15, Math.min(40, 900 / n)) * n}px`;
  const side = (area, gap) => Math.max(1, (area ?? 0) / n - gap);
  const gap = n > 25 ? 1 : 3;
  draw("map-chart", {
    type: "matrix",
    data: { datasets: [{
      data: cells, backgroundColor: context => (context.raw ? fill(context.raw) : ends.none), borderRadius: n > 25 ? 0 : 3, borderWidth: 0,
      hoverBorderWidth: 2, hoverBorderColor: colour("ink"),
      width: context => side(context.chart.chartArea?.width, gap), height: context => side(context.chart.chartArea?.height, gap),
    }] },
    options: {
      scales: {
        x: { type: "linear", min: -0.5, max: n - 0.5, offset: false, position: "top", grid: { display: false }, border: { display: false },
          afterBuildTicks: axis => { axis.ticks = data.map.map((_, at) => ({ value: at })); },
          ticks: { autoSkip: n > 25, maxRotation: 0, callback: value => value + 1 } },
        y: { type: "linear", min: -0.5, max: n - 0.5, reverse: true, grid: { display: false }, border: { display: false },
          afterBuildTicks: axis => { axis.ticks = data.map.map((_, at) => ({ value: at })); },
          ticks: { autoSkip: false, color: colour("ink"), callback(value) { return `${label(data.selected[value], charactersFor(this.chart))}  ${value + 1}`; } } },
      },
      plugins: {
        legend: { display: false },
        tooltip: { displayColors: false, callbacks: {
          title: items => {
            const { x, y } = items[0].raw;
            return x === y ? label(data.selected[y], 60) : [label(data.selected[y], 60), label(data.selected[x], 60)];
          },
          label: item => {
            const { x, y, v } = item.raw;
            if (x === y) return `relevance: ${nats(v)}`;
            return `${v < 0 ? "synergy" : "redundancy"}: ${nats(Math.abs(v))}`;
          },
        } },
      },
    },
  });
}
function curveOf(j) {
  const { steps, start, scale, none } = data.curve, column = curveColumn.get(j);
  return steps.map((step, row) => {
    const code = curveCodes[row * scored.length + column];
    return { x: step, y: code === none ? null : (start + code) / scale };
  });
}
function drawAnswer(j) {
  if (!document.getElementById("answer-chart")) return;
  const { steps } = data.curve;
  draw("answer-chart", {
    type: "line",
    data: { datasets: [
      { label: "its score", data: curveOf(j), borderColor: colour("orange"), backgroundColor: colour("orange"), borderWidth: 2.5, pointRadius: steps.length > 40 ? 0 : 3, pointHitRadius: 12 },
      { label: "largest score", data: steps.map(step => ({ x: step, y: best(step)[1] })), borderColor: colour("blue"), backgroundColor: colour("blue"), borderWidth: 1.5, pointRadius: steps.length > 40 ? 0 : 2.5, pointHitRadius: 12 },
    ] },
    options: {
      interaction: { mode: "index", intersect: false },
      scales: {
        x: { type: "linear", min: 1, max: nSteps, title: { display: true, text: "step" }, grid: { display: false }, ticks: { precision: 0, maxTicksLimit: 12 } },
        y: valueAxis(data.inNats ? "nats" : "score"),
      },
      plugins: {
        legend: { align: "end" },
        tooltip: { callbacks: {
          title: items => `step ${items[0].parsed.x}: ${label(best(items[0].parsed.x)[0], 48)}`,
          label: item => ` ${item.dataset.label}: ${number(item.parsed.y)}`,
        } },
      },
    },
  });
}
function drawAll() {
  applyTheme();
  drawScores();
  if (K) drawTogether();
  if (K) drawCosts();
  drawMap();
  const box = document.getElementById("answer");
  if (box.dataset.feature !== undefined) drawAnswer(+box.dataset.feature);
}

// --- theme, copying -------------------------------------------------------------------------------
const systemDark = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches);
document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  drawAll();
});
systemDark.addEventListener("change", drawAll);
addEventListener("beforeprint", () => { for (const chart of charts.values()) chart.resize(); });
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

applyTheme();
if (notSelected.length) answer(notSelected[0]);
else if (K) answer(data.selected[0]);
drawAll();
root.dataset.ready = "yes";
})();
