"use strict";
(() => {
const chunk = 200, delay = 120, few = 10;
const words = {create: "create", update: "update", replace: "replace", delete: "destroy", read: "read later", forget: "forget", move: "move", import: "import", drift: "changed outside", invoke: "invoke", deferred: "deferred", object: "object", "no-op": "no change"};
const marks = {create: "+", update: "~", replace: "±", delete: "−", read: "≤", forget: "×", move: "→", import: "↓", drift: "≈", invoke: "»", deferred: "…", object: "·"};
const $ = id => document.getElementById(id);
const make = (name, cls, text) => {
  const e = document.createElement(name);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  return e;
};
const data = JSON.parse($("data").textContent), all = data.rows || [], folds = data.folds || [];
all.forEach(r => { r.s = null; });
const kinds = new Set(), outcomes = new Set();
let found = all, listed = all, shown = 0, module = null, group = null, part = null, unfolded = false;

// The text that is searched, made when it is first needed.
const searched = r => r.s ?? (r.s = (r.a + "\n" + (r.h || "") + "\n" + (r.w || []).join("\n") + "\n" + (r.o || "")).toLowerCase());

function diff(text) {
  const pre = make("pre", "diff");
  pre.tabIndex = 0;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const m = /^\s*(-\/\+|\+\/-|[-+~])\s/.exec(line);
    const cls = /^\s*#/.test(line) ? "remark" : m ? {"+": "plus", "-": "minus", "~": "tilde"}[m[1]] || "tilde" : "";
    pre.append(cls ? make("span", cls, line) : line, "\n");
  }
  return pre;
}

function fill(details, r) {
  if (details.dataset.filled) return;
  details.dataset.filled = "1";
  if (r.w) {
    const list = make("ul", "why");
    list.setAttribute("aria-label", "Why");
    r.w.forEach(w => list.append(make("li", "", w)));
    details.append(list);
  }
  details.append(diff(r.d));
}

function item(r) {
  const d = make("details", "change " + r.k), s = make("summary");
  const mark = make("span", "mark", marks[r.k] || "·");
  mark.setAttribute("aria-hidden", "true");
  s.append(mark, make("span", "address", r.a), " ");
  if (r.h) s.append(make("span", "headline", r.h));
  if (r.o) s.append(" ", make("span", "outcome " + (r.o === "done" ? "good" : "bad"), r.o + (r.t ? " · " + r.t : "")));
  if (r.w) s.append(make("span", "first", r.w[0]));
  d.append(s);
  d.r = r;
  d.addEventListener("toggle", () => { if (d.open) fill(d, r); });
  if (unfolded) { fill(d, r); d.open = true; }
  return d;
}

// Of many rows that are alike, and of which the same became, the first is listed and a line for the others.
function fold(rows) {
  const key = r => r.g + " " + (r.o || ""), n = new Map(), at = new Map(), out = [];
  for (const r of rows) if (r.g) n.set(key(r), (n.get(key(r)) || 0) + 1);
  for (const r of rows) {
    const k = key(r), f = r.g && at.get(k);
    if (f) { f.like.push(r); continue; }
    out.push(r);
    if (!r.g || n.get(k) <= few) continue;
    at.set(k, {like: [], m: r.m, r: r.r, k: r.k, of: r});
    out.push(at.get(k));
  }
  return out;
}

function alike(f) {
  const d = make("details", "like " + f.of.k), s = make("summary"), last = f.like[f.like.length - 1];
  s.append(f.like.length + " more like it, among ", make("span", "address", f.like[0].a), " to ", make("span", "address", last.a), ": each ", make("span", "headline", folds[f.of.g - 1]));
  if (f.of.o) s.append(" ", make("span", "outcome " + (f.of.o === "done" ? "good" : "bad"), f.of.o));
  d.append(s);
  let n = 0;
  const next = make("button", "", "Show more");
  next.type = "button";
  const some = () => {
    const part = document.createDocumentFragment(), from = n;
    for (; n < Math.min(from + chunk, f.like.length); n++) part.append(item(f.like[n]));
    if (next.parentNode) next.before(part); else d.append(part, next);
    next.hidden = n === f.like.length;
    return d.querySelectorAll("details.change")[from];
  };
  next.addEventListener("click", () => some().querySelector("summary").focus());
  d.addEventListener("toggle", () => { if (d.open && n === 0) some(); });
  return d;
}

// Rounds follow each other. All that a round defers comes after its changes.
const late = r => r.k === "deferred" ? 1 : 0;
const several = all.some(r => r.r > 1);

function partOf(r) {
  if (several) return "Round " + r.r + (late(r) ? ": deferred" : "");
  return late(r) ? "Deferred to a later plan" : "";
}

function more() {
  const list = $("list"), fresh = document.createDocumentFragment(), end = Math.min(shown + chunk, listed.length);
  for (; shown < end; shown++) {
    const r = listed[shown], title = partOf(r);
    if (group === null || title !== part) {
      part = title; group = null;
      if (title) fresh.append(make("h3", "part", title));
    }
    if (group === null || (r.m || "") !== module) {
      module = r.m || "";
      group = make("section", "module");
      group.append(make(title ? "h4" : "h3", "", module || "Root module"));
      fresh.append(group);
    }
    group.append(r.like ? alike(r) : item(r));
  }
  list.append(fresh);
  $("more").hidden = shown === listed.length;
}

function search() {
  const terms = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  found = all.filter(r => (kinds.size === 0 || kinds.has(r.k)) && (outcomes.size === 0 || outcomes.has(r.o)) && terms.every(t => searched(r).includes(t)));
  listed = fold(found);
  shown = 0; group = null;
  $("list").replaceChildren();
  $("found").textContent = found.length === all.length ? all.length + " in all" : found.length + " of " + all.length;
  more();
}

function filter(set, value, text, cls) {
  const b = make("button", "kind " + cls, text);
  b.type = "button";
  b.setAttribute("aria-pressed", "false");
  b.addEventListener("click", () => {
    const on = !set.delete(value);
    if (on) set.add(value);
    b.setAttribute("aria-pressed", String(on));
    search();
  });
  $("kinds").append(b);
}

function filters(key, set, name) {
  const n = new Map();
  all.forEach(r => { if (r[key]) n.set(r[key], (n.get(r[key]) || 0) + 1); });
  if (n.size > 1) for (const [value, count] of n) filter(set, value, name(value) + " " + count, value.replace(" ", "-"));
}

// An address after the # opens that object.
function visit() {
  let name = "";
  try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
  const r = all.find(r => r.a === name);
  if (!r) return;
  $("find").value = name;
  search();
  const d = $("list").querySelector("details");
  if (d) { d.open = true; d.scrollIntoView(); d.querySelector("summary").focus(); }
}

// Changes in one module follow each other; the sort keeps their order.
all.sort((a, b) => (a.r || 0) - (b.r || 0) || late(a) - late(b) || ((a.m || "") === (b.m || "") ? 0 : (a.m || "") < (b.m || "") ? -1 : 1));
document.querySelector(".tools").hidden = all.length === 0;
filters("k", kinds, k => words[k] || k);
filters("o", outcomes, o => o);
let timer = 0;
$("find").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, delay); });
$("more").addEventListener("click", () => {
  const last = $("list").querySelector("details:last-of-type");
  const before = $("list").querySelectorAll("details").length;
  more();
  const next = $("list").querySelectorAll("details.change")[before];
  (next || last).querySelector("summary").focus();
});
$("unfold").addEventListener("click", () => {
  unfolded = !unfolded;
  $("unfold").setAttribute("aria-pressed", String(unfolded));
  $("list").querySelectorAll("details.change").forEach(d => { if (unfolded) fill(d, d.r); d.open = unfolded; });
});
document.addEventListener("keydown", e => {
  if (e.key === "k" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); $("find").focus(); }
});
document.querySelectorAll("details.lazy").forEach(d => d.addEventListener("toggle", () => {
  const t = d.querySelector("script");
  if (d.open && t) { t.remove(); d.insertAdjacentHTML("beforeend", t.textContent); }
}));
const outputs = document.querySelector("#outputs pre");
if (outputs) outputs.replaceWith(diff(outputs.textContent));
new IntersectionObserver(seen => { if (seen.some(s => s.isIntersecting) && !$("more").hidden) more(); }, {rootMargin: "600px"}).observe($("more"));
window.addEventListener("hashchange", visit);
if (all.length === 0) $("found").textContent = "There is nothing to show.";
else search();
visit();
document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
