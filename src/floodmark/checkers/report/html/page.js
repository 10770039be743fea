// Steps through counterexamples with the arrow keys, opens what a link leads to, filters specs.
(() => {
  const make = (tag, given, ...parts) => {
    const element = Object.assign(document.createElement(tag), given);
    element.append(...parts);
    return element;
  };

  // A link to something that is closed, or in something that is, opens it.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let it = target; it; it = it.parentElement?.closest("details")) if (it.tagName === "DETAILS") it.open = true;
    const step = target.closest(".trace") && target.id.match(/-(?:step|chart)-(\d+)$/);
    if (step) walks.get(target.closest(".trace")).go(Number(step[1]));
    target.scrollIntoView({block: "nearest"});
  };

  // One counterexample: the present step is marked in the list and in the chart, and its state is open.
  const walks = new Map();
  let current = null;
  const walk = trace => {
    const steps = [...trace.querySelectorAll(".steps > li")];
    const drawn = [...trace.querySelectorAll(".chart .step")];
    const said = make("span", {className: "quiet"});
    const button = (text, label, by) => {
      const it = make("button", {type: "button", ariaLabel: label}, text);
      it.addEventListener("click", () => go(now + by));
      return it;
    };
    const changed = () => walks.forEach(each => each.show());
    const held = make("div", {className: "held"});
    const bar = make("div", {className: "bar-of-steps"}, button("◀", "previous step", -1), said,
                     button("▶", "next step", 1), make("span", {className: "quiet hint"}, "keys ← →"), held);
    trace.querySelector(".steps").before(make("div", {className: "walk"}, bar));
    bar.parentElement.append(trace.querySelector(".steps"));
    let now = steps.length;
    let opened = null;
    const state = () => steps[now - 1].querySelector(".state");
    const press = () => {
      for (const it of trace.querySelectorAll("th.pin")) it.setAttribute("aria-pressed", pins.pinned.has(it.textContent));
    };
    const show = () => {
      said.textContent = `step ${now} of ${steps.length}`;
      steps.forEach((it, place) => it.classList.toggle("now", place === now - 1));
      drawn.forEach(it => it.classList.toggle("now", Number(it.dataset.number) === now));
      held.replaceChildren(...(pins.pinned.size && state() ? [pins.table(state(), changed)] : []));
      press();
    };
    const go = to => {
      current = trace;
      if (to < 1 || to > steps.length) return;
      now = to;
      if (opened) opened.open = false;
      const details = steps[now - 1].querySelector("details");
      opened = details && !details.open ? details : null;
      if (opened) opened.open = true;
      show();
      steps[now - 1].scrollIntoView({block: "nearest"});
    };
    for (const it of trace.querySelectorAll(".state")) pins.offer(it, changed);
    trace.addEventListener("pointerdown", () => { current = trace; });
    show();
    return {go, show, step: by => go(now + by)};
  };
  for (const trace of document.querySelectorAll(".trace")) walks.set(trace, walk(trace));

  // The counterexample that the keys are for: the last one used, else the first that can be seen.
  const meant = () => {
    const seen = it => { const box = it.getBoundingClientRect(); return box.height && box.bottom > 0 && box.top < innerHeight };
    if (current && seen(current)) return current;
    return [...walks.keys()].find(seen);
  };
  document.addEventListener("keydown", event => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input, textarea, select")) return;
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (event.key === "/" && filter) {
      event.preventDefault();
      filter.focus();
    } else if (by && !event.target.closest(".scroll:not(.chart-box)") && meant()) {
      event.preventDefault();
      walks.get(meant()).step(by);
    }
  });

  // The filter: a spec stays if every word is somewhere in its row, its title or the names of its designs.
  const rows = [...document.querySelectorAll(".verdicts tbody tr")];
  const specs = [...document.querySelectorAll("details.spec")];
  let filter = null;
  if (rows.length > 1) {
    filter = make("input", {type: "search", placeholder: "filter specs ( / )", ariaLabel: "filter specs", id: "filter"});
    const count = make("span", {className: "quiet", role: "status"});
    const texts = specs.map(it => [it, ...it.querySelectorAll(":scope > .body > details > summary")]
      .map(part => part === it ? it.querySelector("summary").textContent : part.textContent).join(" ").toLowerCase());
    const apply = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      specs.forEach((it, place) => {
        const keep = words.every(word => texts[place].includes(word));
        it.hidden = rows[place].hidden = !keep;
        left += keep;
      });
      count.textContent = words.length ? `${left} of ${specs.length}` : "";
    };
    filter.addEventListener("input", apply);
    filter.addEventListener("keydown", event => {
      if (event.key === "Escape") { filter.value = ""; apply(); filter.blur(); }
    });
    document.querySelector("#verdicts h2").after(make("p", {className: "filter"}, filter, " ", count));
  }

  addEventListener("hashchange", reveal);
  reveal();
})();
