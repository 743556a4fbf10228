"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const n = data.names.length, board = $("board"), body = board.tBodies[0], rows = [...body.rows];
const points = (x, digits = 1) => x === null ? "–" : (data.factor * x).toFixed(digits + (data.factor === 1)).replace("-", "−").replace(/^−(0(\.0+)?)$/, "$1");
const inPoints = before => data.factor === 1 ? "" : `${before}points`;
const signed = x => x === null ? "–" : (x > 0 ? "+" : "") + points(x);
const pvalue = p => p === null ? "–" : p < 1e-3 ? (p === 0 ? "< 1e−300" : p.toExponential(1).replace("-", "−")) : p.toPrecision(3);
const probability = p => p === null ? "–" : p < 0.0005 ? "< 0.001" : p >= 0.9995 ? "> 0.999" : p.toFixed(3);
const within = v => `${points(v[0])} [${points(v[1], 1)}, ${points(v[2], 1)}]`;
const make = (tag, text, parent, kind) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  if (parent) parent.append(element);
  return element;
};
document.documentElement.classList.add("scripted");

// --- the leaderboard: sort, filter, labels
const heads = [...board.tHead.rows[0].cells].filter(cell => !cell.classList.contains("track"));
let column = null, down = true, label = null, shown = rows.map((_, i) => i);
const cellOf = (row, k) => row.cells[k === 0 ? 0 : k + 1];
const valueOf = (row, k) => {
  const text = cellOf(row, k).dataset.value, value = Number(text);
  return k === 0 || Number.isNaN(value) && text !== "" ? text : text === "" ? null : value;
};
const compare = (a, b) => {
  const place = a.dataset.place - b.dataset.place;
  if (column === null) return place;
  const x = valueOf(a, column), y = valueOf(b, column);
  if (x === null || y === null) return (x === null) - (y === null) || place;
  return (typeof x === "string" ? x.localeCompare(y) : x - y) * (down ? -1 : 1) || place;
};
function arrange() {
  const wanted = $("filter").value.trim().toLowerCase();
  rows.sort(compare);
  let last = null;
  for (const row of rows) {
    row.hidden = !data.names[row.dataset.place].toLowerCase().includes(wanted);
    row.classList.toggle("starts", !row.hidden && column === null && last !== null && row.dataset.first !== last);
    if (!row.hidden) last = row.dataset.first;
  }
  body.append(...rows);
  shown = rows.filter(row => !row.hidden).map(row => +row.dataset.place).sort((a, b) => a - b);
  $("shown").textContent = shown.length < n || label !== null
    ? `${shown.length} of ${n} systems` + (label === null ? "." : `; scores of ${data.labels[label]}; rank, ties and P(best) are of all labels.`) : "";
  heads.forEach((head, k) => k === column ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
  $("sort").value = column === null ? "" : column;
  drawMatrix();
}
function sortBy(k) {
  const rising = heads[k].dataset.rising === "1";
  if (k === column) down = !down; else down = !rising;
  column = k;
  arrange();
}
heads.forEach((head, k) => {
  const button = make("button", head.textContent);
  button.type = "button";
  button.addEventListener("click", () => sortBy(k));
  head.replaceChildren(button);
});
$("sort").addEventListener("change", event => {
  if (event.target.value === "") { column = null; arrange(); } else { column = null; sortBy(+event.target.value); }
});
$("filter").addEventListener("input", arrange);
const before = rows.map(row => ({ row, text: cellOf(row, 1).textContent, value: cellOf(row, 1).dataset.value }));
const scale = values => {
  const all = values.flat().filter(x => x !== null);
  const low = Math.min(...all), high = Math.max(...all);
  return all.length ? [low, high > low ? high : low + 0.01] : [0, 1];
};
function track(cell, limits, [low, high], zero) {
  const at = x => (100 * (x - low) / (high - low)).toFixed(1) + "%";
  const iv = cell.querySelector(".iv") || make("span", undefined, cell, "iv");
  iv.replaceChildren();
  if (zero) make("s", undefined, iv).style.left = at(0);
  if (!limits || limits[0] === null) return;
  const line = make("i", undefined, iv);
  line.style.left = at(limits[1]);
  line.style.right = `calc(100% - ${at(limits[2])})`;
  make("b", undefined, iv).style.left = at(limits[0]);
}
function showLabel() {
  const values = data.names.map((_, i) => label === null ? data.scores[i] : data.byLabel[i][label] || [null, null, null]);
  const ends = scale(values.filter(v => v[0] !== null));
  board.tHead.querySelectorAll(".ends span").forEach((span, k) => { span.textContent = points(ends[k], 1); });
  for (const { row, text, value } of before) {
    const own = values[row.dataset.place], cell = cellOf(row, 1);
    track(row.querySelector(".track"), own, ends);
    cell.textContent = label === null ? text : own[0] === null ? "–" : within(own);
    cell.dataset.value = label === null ? value : own[0] === null ? "" : own[0];
  }
  arrange();
}
if ($("label")) $("label").addEventListener("change", event => {
  label = event.target.value === "" ? null : +event.target.value;
  showLabel();
});

// --- the pairs
const pairs = data.pairs, canvas = $("matrix");
const indexOf = (i, j) => i * n - i * (i + 1) / 2 + j - i - 1;
// of the system in place i against the one in place j
function pairOf(i, j) {
  const k = indexOf(Math.min(i, j), Math.max(i, j)), turn = i > j;
  const minus = x => x === null ? null : -x;
  return {
    d: turn ? minus(pairs.d[k]) : pairs.d[k],
    low: turn ? minus(pairs.high[k]) : pairs.low[k],
    high: turn ? minus(pairs.low[k]) : pairs.high[k],
    better: turn && pairs.better[k] !== null ? 1 - pairs.better[k] : pairs.better[k],
    p: pairs.p[k], adjusted: pairs.adjusted[k], decided: pairs.decided[k], same: pairs.same[k],
  };
}
function verdictOf(i, j) {
  const pair = pairOf(i, j), [one, other] = [data.names[i], data.names[j]];
  if (pair.same) return `${one} and ${other} come out the same everywhere.`;
  if (pair.d === null) return `${one} and ${other}: a score is undefined.`;
  if (!pair.decided) return `${one} and ${other} are not distinguished.`;
  return pair.d > 0 ? `${one} is better than ${other}.` : `${other} is better than ${one}.`;
}
let at = [0, 1], focused = false, paper = false, geometry = null;
const colours = () => {
  if (paper) return { a: "#b45309", b: "#0b63a5", line: "#ddd", ink: "#000" };
  const style = getComputedStyle(document.documentElement), of = name => style.getPropertyValue(name).trim();
  return { a: of("--a"), b: of("--b"), line: of("--line"), ink: of("--ink") };
};
function drawMatrix() {
  if (!canvas) return;
  const width = canvas.clientWidth || 600, m = shown.length, ratio = window.devicePixelRatio || 1;
  const context = canvas.getContext("2d");
  context.font = "12px system-ui, sans-serif";
  const room = Math.min(0.3 * width, 4 + Math.max(0, ...shown.map(i => context.measureText(data.names[i]).width)));
  const named = m && (width - room) / m >= 11;
  const left = named ? room + 6 : 2, top = named ? room + 6 : 2;
  const size = m ? Math.min((width - left - 2) / m, 44) : 0;
  canvas.style.height = top + size * m + 2 + "px";
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round((top + size * m + 2) * ratio);
  context.scale(ratio, ratio);
  geometry = { left, top, size, width };
  const colour = colours(), largest = Math.max(1e-9, ...pairs.d.map(d => d || 0));
  const gap = size > 5 ? 1 : 0;
  shown.forEach((i, row) => shown.forEach((j, k) => {
    const x = left + k * size, y = top + row * size;
    context.globalAlpha = 0.35;
    context.fillStyle = colour.line;
    context.fillRect(x, y, size - gap, size - gap);
    if (i === j) return;
    const pair = pairOf(i, j);
    if (pair.d === null) return;
    context.fillStyle = pair.d === 0 ? colour.ink : pair.d > 0 ? colour.b : colour.a;
    // a contrast of 3 with the ground also where the difference is small
    context.globalAlpha = 0.78 + 0.22 * Math.abs(pair.d) / largest;
    const inset = pair.decided ? 0 : size * 0.34;
    context.fillRect(x + inset, y + inset, size - gap - 2 * inset, size - gap - 2 * inset);
  }));
  context.globalAlpha = 1;
  context.fillStyle = colour.ink;
  context.font = `${Math.min(12, size)}px system-ui, sans-serif`;
  if (named) shown.forEach((i, k) => {
    const middle = (k + 0.5) * size;
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.fillText(cut(context, data.names[i], room), left - 6, top + middle, room);
    context.save();
    context.translate(left + middle, top - 6);
    context.rotate(-Math.PI / 2);
    context.textAlign = "left";
    context.fillText(cut(context, data.names[i], room), 0, 0, room);
    context.restore();
  });
  const [row, k] = [shown.indexOf(at[0]), shown.indexOf(at[1])];
  if (row >= 0 && k >= 0 && (focused || !$("details").hidden) && !paper) {
    context.strokeStyle = colour.ink;
    context.lineWidth = 2;
    context.strokeRect(left + k * size, top + row * size, size - gap, size - gap);
  }
}
function cut(context, words, room) {
  let text = words;
  while (text.length > 1 && context.measureText(text).width > room) text = text.slice(0, -2) + "…";
  return text;
}
function tell(i, j) {
  if (i === j) { $("hover").textContent = data.names[i]; return; }
  const pair = pairOf(i, j);
  $("hover").textContent = `${data.names[i]} − ${data.names[j]}: ${signed(pair.d)}${inPoints(" ")} [${points(pair.low)}, ${points(pair.high)}], adjusted p ${pvalue(pair.adjusted)}. ${verdictOf(i, j)}`;
}
function open(i, j) {
  if (i === j || i < 0 || j < 0) return;
  at = [i, j];
  const box = $("details"), pair = pairOf(i, j), names = [data.names[i], data.names[j]];
  box.replaceChildren();
  box.hidden = false;
  make("h3", `${names[0]} against ${names[1]}`, box);
  make("p", verdictOf(i, j), box);
  const list = make("dl", undefined, box);
  const tests = [
    ...names.map((name, k) => [name, limitsOf(data.scores[[i, j][k]])]),
    [`difference${inPoints(" in ")}`, `${signed(pair.d)} [${points(pair.low)}, ${points(pair.high)}]`],
    [`P(${names[0]} better)`, probability(pair.better)],
    ["p", pvalue(pair.p)], ["p adjusted", pvalue(pair.adjusted)], ["decided", pair.decided ? "yes" : "no"],
  ];
  for (const [term, words] of tests) { make("dt", term, list); make("dd", words, list); }
  if (!openInFull(box, i, j)) labelTable(box, i, j, names);
  $("one").value = i;
  $("other").value = j;
  tell(i, j);
  drawMatrix();
}
// the comparison of the two that the page holds, or where there is one, or what makes one
const inFull = [...document.querySelectorAll(".full")];
function openInFull(box, i, j) {
  const [above, below] = [Math.min(i, j), Math.max(i, j)], full = $(`pair-${above}-${below}`);
  const page = data.pages && data.pages[`${above}-${below}`];
  for (const other of inFull) {
    other.open = other === full;
    other.hidden = full !== null && other !== full;
  }
  if ($("list")) $("list").hidden = full === null || inFull.length < 2;
  if (full || page) {
    make("a", "The comparison of the two in full", make("p", undefined, box)).setAttribute("href", page || `#${full.id}`);
  } else if (data.command) {
    const { systems, parts } = data.command;
    make("p", "The comparison of the two in full:", box, "note");
    make("code", parts.map((part, k) => part + (k + 1 < parts.length ? systems[k % 2 ? above : below][k >> 1] : "")).join(""), box);
  }
  return full !== null;
}
if ($("list")) $("list").addEventListener("click", () => {
  for (const other of inFull) other.hidden = other.open = false;
  $("list").hidden = true;
  inFull[0].querySelector("summary").focus();
});
const limitsOf = v => v[0] === null ? "undefined" : within(v);
function labelTable(box, i, j, names) {
  const entries = data.labels.map((name, k) => [name, data.byLabel[i][k], data.byLabel[j][k]]).filter(e => e[1] || e[2]);
  if (!entries.length) return;
  make("h3", "By label, in points", box);
  const table = make("table", undefined, make("div", undefined, box, "scroll"), "stack");
  make("caption", "By label, in points", table);
  const columns = ["label", names[0], names[1], "difference"], head = make("tr", undefined, make("thead", undefined, table));
  columns.forEach((name, k) => {
    make("th", name, head, k ? "" : "words").scope = "col";
  });
  const rows = make("tbody", undefined, table);
  for (const [name, a, b] of entries) {
    const row = make("tr", undefined, rows), both = a && b && a[0] !== null && b[0] !== null;
    [name, a, b, both ? signed(a[0] - b[0]) : "–"].forEach((value, k) => {
      const limits = k === 1 || k === 2, there = limits && value && value[0] !== null;
      const cell = make(k ? "td" : "th", !limits ? value : there ? points(value[0]) : "–", row, k ? "" : "words");
      cell.dataset.head = columns[k];
      if (!k) cell.scope = "row";
      if (there) make("small", `[${points(value[1], 1)}, ${points(value[2], 1)}]`, cell);
    });
  }
  make("p", "Differences of single labels stand here without a test: many labels make some large ones by chance.", box, "note");
}
if (pairs && n > 1) {
  for (const [id, chosen] of [["one", 0], ["other", 1]]) {
    data.names.forEach((name, i) => { make("option", name, $(id)).value = i; });
    $(id).value = chosen;
    $(id).addEventListener("change", () => open(+$("one").value, +$("other").value));
  }
  const placeOf = event => {
    const box = canvas.getBoundingClientRect(), { left, top, size } = geometry;
    const k = Math.floor((event.clientX - box.left - left) / size), row = Math.floor((event.clientY - box.top - top) / size);
    return row >= 0 && k >= 0 && row < shown.length && k < shown.length ? [shown[row], shown[k]] : null;
  };
  canvas.addEventListener("pointermove", event => { const place = placeOf(event); if (place) tell(...place); });
  canvas.addEventListener("click", event => { const place = placeOf(event); if (place) open(...place); });
  canvas.addEventListener("focus", () => { focused = true; if (!shown.includes(at[0])) at = [shown[0], shown[1] ?? shown[0]]; tell(...at); drawMatrix(); });
  canvas.addEventListener("blur", () => { focused = false; drawMatrix(); });
  canvas.addEventListener("keydown", event => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (step) {
      at = at.map((i, k) => shown[Math.max(0, Math.min(shown.length - 1, shown.indexOf(i) + step[k]))]);
      tell(...at);
      drawMatrix();
    } else if (event.key === "Enter" || event.key === " ") {
      open(...at);
      if (at[0] !== at[1]) $("details").focus();
    } else return;
    event.preventDefault();
  });
  new ResizeObserver(() => { if (geometry && canvas.clientWidth !== geometry.width) drawMatrix(); }).observe(canvas.parentNode);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawMatrix);
  addEventListener("beforeprint", () => { paper = true; drawMatrix(); });
  addEventListener("afterprint", () => { paper = false; drawMatrix(); });
}
arrange();
})();
