"use strict";
// Pinned variables: rows of a state that stay in view while one steps. A row is known by the text of its heading.
const pins = (() => {
  const pinned = new Set();
  const name = row => row.querySelector("th[scope=row]")?.textContent;
  const rows = state => [...state.querySelectorAll("tr")].filter(name);
  // The pinned rows of a state, below the headings of their tables; `changed` is called when one is unpinned there.
  const table = (state, changed) => {
    const box = document.createElement("div");
    box.className = "state pinned";
    for (const whole of state.querySelectorAll("table")) {
      const chosen = [...whole.rows].filter(row => pinned.has(name(row)));
      if (!chosen.length) continue;
      const heading = [...whole.rows].find(row => row.querySelector("th[scope=col]"));
      const copy = document.createElement("table");
      copy.append(...(heading ? [heading] : []).concat(chosen).map(row => row.cloneNode(true)));
      const scroll = document.createElement("div");
      scroll.className = "scroll";
      scroll.append(copy);
      box.append(scroll);
    }
    offer(box, changed);
    return box;
  };
  // Makes the headings of a state's rows buttons that pin and unpin; `changed` is called after each.
  const offer = (state, changed) => {
    for (const row of rows(state)) {
      const head = row.querySelector("th[scope=row]");
      head.classList.add("pin");
      head.tabIndex = 0;
      head.setAttribute("role", "button");
      head.setAttribute("aria-pressed", pinned.has(name(row)));
      head.title = "pin this variable";
      const turn = () => {
        pinned.has(name(row)) ? pinned.delete(name(row)) : pinned.add(name(row));
        head.setAttribute("aria-pressed", pinned.has(name(row)));
        changed();
      };
      head.addEventListener("click", turn);
      head.addEventListener("keydown", event => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); turn(); }
      });
    }
  };
  return {pinned, table, offer};
})();
