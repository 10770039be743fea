"use strict";
// Walks a model. The address has the design, the one beside it, and the path; the server takes it and says what is there.
(() => {
  const $ = id => document.getElementById(id);
  const here = {design: "", beside: "", path: [], at: -1, loop: null, failing: "", watch: []};
  let overview = null;
  let track = null;  // the counterexample that was loaded, to return to
  let asked = 0;

  const ask = async (what, body) => {
    const waiting = setTimeout(() => say("waiting: a search, or a breakpoint in the terminal", "waits"), 1500);
    try {
      const answer = await fetch(what, {method: "POST", headers: {"Content-Type": "application/json"},
                                        body: JSON.stringify(body)});
      const content = await answer.json();
      if (!answer.ok) throw new Error(content.error);
      return content;
    } finally {
      clearTimeout(waiting);
    }
  };
  const say = (text, kind = "") => { $("said").textContent = text; $("said").className = kind; };

  // The address: readable, and all that is needed to come back.
  const written = () => {
    const given = [["design", here.design], ["beside", here.beside], ["path", here.path.join(";")], ["at", here.at],
                   ["loop", here.loop ?? ""], ...here.watch.map(it => ["watch", it])];
    const plain = text => String(text).replace(/[%&#+"<>`]/g, encodeURIComponent).replaceAll(" ", "+");
    return "#" + given.filter(it => it[1] !== "").map(([name, value]) => `${name}=${plain(value)}`).join("&");
  };
  const read = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    const path = given.get("path");
    Object.assign(here, {
      design: given.get("design") || overview.first,
      beside: given.get("beside") ?? "",
      path: path ? path.split(";") : [],
      watch: given.getAll("watch"),
      failing: "",
    });
    here.at = given.has("at") ? Number(given.get("at")) : here.path.length - 1;
    const loop = given.get("loop");
    here.loop = loop === null ? null : Number(loop);
    if (!location.hash && here.design !== overview.good) here.beside = overview.good;
  };

  const show = async (taken = false) => {
    const number = ++asked;
    let answer;
    try {
      answer = await ask("/walk", {design: here.design, beside: here.beside, path: here.path, at: here.at, taken,
                                   watch: here.watch});
    } catch (error) {
      say(String(error.message || error), "wrong");
      return;
    }
    if (number !== asked) return;
    here.at = answer.at;
    here.path = answer.path;
    if (here.loop !== null && here.loop >= here.path.length) here.loop = null;
    for (const [id, text] of Object.entries(answer.parts)) $(id).innerHTML = text;
    say(answer.stop, answer.stop ? "wrong" : "");
    const address = written();
    if (address !== location.hash) history.pushState(null, "", address);
    dress();
  };

  const dress = () => {
    document.title = `${here.design} · Floodmark`;
    $("design").value = here.design;
    $("beside").value = here.beside;
    const last = here.path.length - 1;
    $("where").textContent = here.at < 0 ? "the beginning" : `step ${here.at + 1} of ${here.path.length}`
      + (here.loop === null ? "" : here.loop === last ? ", forever" : `, ${here.loop + 2} to ${last + 1} forever`);
    $("back").disabled = here.at < 0;
    $("on").disabled = here.at >= last && here.loop === null && !here.failing;
    const left = track && !track.path.every((it, place) => here.path[place] === it);
    $("left").hidden = !left;
    $("why").textContent = track?.why ?? "";
    $("why").hidden = !track?.why || left;
    pin();
    widen();
    const state = document.querySelector("#state .state");
    if (state) pins.offer(state, pin);
    document.querySelectorAll("#chart .step").forEach(
      it => it.classList.toggle("now", Number(it.dataset.number) === here.at + 1));
    document.querySelector(".path > .now")?.scrollIntoView({block: "nearest"});
  };
  // A state whose tables are wider than its column has the whole width, so that no column is cut off.
  const widen = () => {
    const main = document.querySelector("main");
    main.classList.remove("wide");
    const cut = [...document.querySelectorAll("#state .scroll")].some(it => it.scrollWidth > it.clientWidth + 1);
    main.classList.toggle("wide", cut);
  };
  const pin = () => {
    const state = document.querySelector("#state .state");
    for (const it of document.querySelectorAll("#state th.pin")) {
      it.setAttribute("aria-pressed", pins.pinned.has(it.textContent));
    }
    $("held").replaceChildren(...(pins.pinned.size && state ? [pins.table(state, pin)] : []));
  };

  const go = at => {
    const last = here.path.length - 1;
    if (at > last && here.failing && here.at === last) return take(here.failing);
    if (at > last && here.loop !== null) at = Math.min(here.loop + 1, last);
    here.at = Math.max(-1, Math.min(at, last));
    show();
  };
  const take = text => {
    if (here.path[here.at + 1] !== text) {
      here.path = [...here.path.slice(0, here.at + 1), text];
      here.loop = null;
      here.failing = "";
    }
    here.at += 1;
    show(true);
  };
  const load = found => {
    track = found;
    const at = found.wrong ? found.path.length - 1 : 0;
    Object.assign(here, {path: [...found.path], at, loop: found.loop, failing: found.failing});
    return show();
  };
  // The search runs beside the page. What it finds is loaded unless one has gone elsewhere meanwhile.
  let searching = "";
  const search = async (atOnce = false) => {
    const design = here.design;
    if (searching === design) return stop();
    searching = design;
    const before = here.path.join(";");
    $("search").textContent = "stop the search";
    say(`searching ${design}`, "waits");
    try {
      let found = await ask("/search", {design});
      while (found.searching && searching === design) {
        say(`searching: ${found.said}`, "waits");
        await new Promise(done => setTimeout(done, 300));
        found = await ask("/search", {design});
      }
      if (searching !== design) return;
      const list = $("tracks");
      list.replaceChildren(...found.tracks.map((it, place) => new Option(it.title, place)));
      list.hidden = !found.tracks.length;
      list.onchange = () => load(found.tracks[list.value]);
      const first = found.tracks.find(it => it.wrong) ?? (atOnce ? null : found.tracks[0]);
      if (first && here.design === design && here.path.join(";") === before) {
        list.value = found.tracks.indexOf(first);
        await load(first);
      }
      say(found.said);
    } catch (error) {
      say(String(error.message || error), "wrong");
    } finally {
      if (searching === design) searching = "";
      if (!searching) $("search").textContent = "find counterexamples";
    }
  };
  const stop = async () => {
    const design = searching;
    searching = "";
    const found = await ask("/stop", {design});
    $("search").textContent = "find counterexamples";
    say(found.said);
  };
  const choose = name => {
    here.design = name;
    track = null;
    $("tracks").hidden = true;
    if (here.beside === name) here.beside = "";
    here.loop = null;
    here.failing = "";
    show();
  };
  const beside = name => { here.beside = name; show(); };
  const draw = () => {
    const drawn = $("chart").hidden;
    $("chart").hidden = !drawn;
    $("timeline").hidden = drawn;
    $("drawn").setAttribute("aria-pressed", drawn);
  };
  const help = () => {
    $("help").hidden = !$("help").hidden;
    $("keys").setAttribute("aria-expanded", !$("help").hidden);
  };
  const select = by => {
    const choices = [...document.querySelectorAll(".take")];
    const now = choices.indexOf(document.activeElement);
    choices[Math.max(0, Math.min(choices.length - 1, now < 0 ? 0 : now + by))]?.focus();
  };

  document.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (button?.dataset.step !== undefined) take(button.dataset.step);
    else if (button?.dataset.drop !== undefined) {
      here.watch = here.watch.filter((_, place) => place !== Number(button.dataset.drop));
      show();
    }
    else if (button?.dataset.at !== undefined) go(Number(button.dataset.at));
    else if (button?.dataset.try !== undefined) {
      const before = {...here};
      here.path = [...here.path.slice(0, here.at + 1), button.dataset.try];
      here.at += 1;
      show(true).then(() => Object.assign(here, {path: before.path, at: before.at, loop: before.loop})).then(dress);
    } else {
      const step = event.target.closest("#chart .step");
      if (step) go(Number(step.dataset.number) - 1);
    }
  });
  const keys = {
    ArrowLeft: () => go(here.at - 1), ArrowRight: () => go(here.at + 1), Home: () => go(-1),
    ArrowDown: () => select(1), ArrowUp: () => select(-1), j: () => select(1), k: () => select(-1),
    b: () => beside(here.beside ? "" : other()), c: draw, w: () => $("expression").focus(), s: () => search(), "?": help,
  };
  const other = () => here.design === overview.good ? overview.designs[1]?.name ?? "" : overview.good;
  document.addEventListener("keydown", event => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input, select, textarea")) return;
    const action = keys[event.key];
    if (action) { event.preventDefault(); action(); }
  });
  $("watch").onsubmit = event => {
    event.preventDefault();
    const text = $("expression").value.trim();
    if (text && !here.watch.includes(text)) here.watch = [...here.watch, text];
    $("expression").value = "";
    show();
  };
  addEventListener("resize", widen);
  $("back").onclick = () => go(here.at - 1);
  $("on").onclick = () => go(here.at + 1);
  $("search").onclick = () => search();
  $("drawn").onclick = draw;
  $("keys").onclick = help;
  $("return").onclick = () => load(track);
  $("design").onchange = () => choose($("design").value);
  $("beside").onchange = () => beside($("beside").value);
  addEventListener("popstate", () => { read(); show(); });

  (async () => {
    overview = await ask("/overview", {});
    $("spec").append(Object.assign(document.createElement("b"), {textContent: overview.spec}), ` ${overview.title}`);
    const said = it => it.breaks ? `${it.name} (breaks ${it.breaks})` : it.name;
    $("design").append(...overview.designs.map(it => new Option(said(it), it.name)));
    $("beside").append(new Option("nothing", ""), ...overview.designs.map(it => new Option(it.name, it.name)));
    const begins = !location.hash;
    read();
    await show();
    if (begins) search(true);
  })();
})();
