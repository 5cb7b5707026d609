// The search, which loads its index when it is first used, and what makes a page easier to use. A page works
// without this script, but for the search.
"use strict";
(() => {
  const root = document.documentElement.dataset.root;
  const form = document.getElementById("search"), input = document.getElementById("find");
  const panel = document.getElementById("results"), found = document.getElementById("found"), list = panel.querySelector("ul");
  const most = 30;
  const before = 60, after = 120; // characters around the first word that was found
  let index;

  // load loads the index once.
  function load() {
    index ||= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = root + "search-index.js";
      script.onload = () => resolve(window.searchIndex);
      script.onerror = () => { index = undefined; reject(new Error("search-index.js cannot be loaded")); };
      document.head.append(script);
    });
    return index;
  }

  // escaped returns a text as a pattern that matches it.
  const escaped = text => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  // rater returns a function that returns how well a section fits, 0 if it lacks a word. A word as a whole
  // counts more than a part of one, and how often it comes counts a little.
  function rater(data, words) {
    const whole = words.map(w => new RegExp(`(?<![\\p{L}\\p{N}_-])${escaped(w)}(?![\\p{L}\\p{N}_-])`, "giu"));
    return section => {
      const title = data.pages[section[0]][1].toLowerCase(), heading = section[2].toLowerCase(), text = section[3].toLowerCase();
      let sum = heading.includes(words.join(" ")) ? 10 : 0;
      for (let i = 0; i < words.length; i++) {
        let points = 0;
        if (heading === words[i]) points = 40;
        else if (heading.startsWith(words[i]) || heading.search(whole[i]) >= 0) points = 20;
        else if (heading.includes(words[i])) points = 12;
        else if (title.includes(words[i])) points = 4;
        if (text.includes(words[i])) points += 1 + Math.min(2 * (text.match(whole[i]) || []).length, 8);
        if (points === 0) return 0;
        sum += points;
      }
      return section[0] < data.listed ? sum : sum / 2; // decisions and files, which are read last
    };
  }

  // marked appends a text to an element, with the words that were looked for as marks.
  function marked(element, text, words) {
    const pattern = new RegExp("(" + words.map(escaped).join("|") + ")", "iu");
    text.split(pattern).forEach((part, i) => {
      if (i % 2) {
        const mark = document.createElement("mark");
        mark.textContent = part;
        element.append(mark);
      } else element.append(part);
    });
  }

  // around returns the part of a text with the first word that is found in it.
  function around(text, words) {
    const lower = text.toLowerCase();
    const at = Math.min(...words.map(w => lower.indexOf(w)).filter(i => i >= 0), text.length);
    if (at === text.length) return text.slice(0, before + after);
    const from = at <= before ? 0 : text.lastIndexOf(" ", at - before) + 1;
    return (from > 0 ? "… " : "") + (at + after < text.length ? text.slice(from, text.lastIndexOf(" ", at + after)) + " …" : text.slice(from));
  }

  // show lists the sections that have all words.
  async function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) { close(); return; }
    let data;
    try {
      data = await load();
    } catch (err) {
      found.textContent = err.message;
      panel.hidden = false;
      return;
    }
    if (words.join(" ") !== input.value.toLowerCase().split(/\s+/).filter(Boolean).join(" ")) return; // typed on
    const rate = rater(data, words);
    const hits = data.sections.map(s => [rate(s), s]).filter(h => h[0] > 0);
    hits.sort((a, b) => b[0] - a[0]); // stable, so in the order of the pages otherwise
    found.textContent = hits.length === 0 ? "Nothing is found." : hits.length === 1 ? "1 section" : `${hits.length} sections${hits.length > most ? `, the first ${most} are shown` : ""}`;
    list.replaceChildren(...hits.slice(0, most).map(([, [page, id, heading, text]]) => {
      const item = document.createElement("li"), link = document.createElement("a");
      const name = document.createElement("b"), where = document.createElement("small"), part = document.createElement("span");
      const [url, title] = data.pages[page];
      link.href = root + url + (id ? "#" + id : "");
      marked(name, heading || title, words);
      if (heading && heading !== title) where.textContent = title;
      marked(part, around(text, words), words);
      link.append(name, where, part);
      item.append(link);
      return item;
    }));
    panel.hidden = false;
  }

  function close() { panel.hidden = true; list.replaceChildren(); found.textContent = ""; }

  // The arrows go through the results, and Escape goes back.
  form.addEventListener("keydown", e => {
    const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    if (e.key === "ArrowDown" && links.length > 0) (links[at + 1] || links[at]).focus();
    else if (e.key === "ArrowUp" && at >= 0) (links[at - 1] || input).focus();
    else if (e.key === "Escape" && !panel.hidden) { close(); input.focus(); }
    else return;
    e.preventDefault();
  });
  form.addEventListener("submit", e => {
    e.preventDefault();
    const first = list.querySelector("a");
    if (first) first.click();
  });
  form.addEventListener("focusout", e => { if (e.relatedTarget && !form.contains(e.relatedTarget)) close(); });
  document.addEventListener("click", e => { if (!form.contains(e.target) || e.target.closest("#results a")) close(); });
  input.addEventListener("focus", () => { load().catch(() => {}); if (input.value) show(); });
  input.addEventListener("input", show);
  document.addEventListener("keydown", e => {
    if (e.key === "k" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); input.focus(); input.select(); }
  });
  form.hidden = false;

  // A search can be linked to.
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) { input.value = asked; input.focus(); }

  // A list of headings that was opened over the text closes when one was chosen.
  document.getElementById("contents")?.addEventListener("click", e => {
    if (e.target.closest("a") && e.currentTarget.matches(":popover-open")) e.currentTarget.hidePopover();
  });

  // The page that is shown is in sight in the navigation. To scroll to it would also move where the tab key begins.
  const pages = document.getElementById("pages"), current = pages.querySelector("[aria-current]");
  if (current) pages.scrollTop = current.offsetTop - pages.clientHeight / 2;

  // Only what is too wide for its place is a stop of the tab key.
  const wide = document.querySelectorAll("pre, .scroll");
  const stops = () => { for (const e of wide) e.scrollWidth > e.clientWidth ? e.setAttribute("tabindex", "0") : e.removeAttribute("tabindex"); };
  stops();
  addEventListener("resize", stops);
})();
