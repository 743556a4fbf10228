"use strict";
document.documentElement.classList.add("with-script");

// Files: dropped or chosen, they are sent at once.
for (const input of document.querySelectorAll("#desk input[type=file]")) {
  const place = input.closest(".drop");
  input.addEventListener("change", () => input.form.requestSubmit());
  place.addEventListener("dragover", (event) => { event.preventDefault(); place.classList.add("over"); });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    const kept = new DataTransfer();
    for (const file of [...event.dataTransfer.files].slice(0, input.multiple ? undefined : 1)) kept.items.add(file);
    input.files = kept.files;
    input.form.requestSubmit();
  });
}

// A file that misses its place does not replace the page.
for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());

// Checks and results that take longer.
const read = async (address) => new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
if (document.querySelector("[data-checking]")) {
  const look = async () => {  // what was typed meanwhile stays
    const page = await read(location);
    for (const place of document.querySelectorAll(".check")) {
      const found = page.getElementById(place.id);
      if (found) place.replaceChildren(...found.childNodes);
    }
    if (page.querySelector("[data-checking]")) setTimeout(look, 500);
    else document.querySelector("[data-checking]").removeAttribute("data-checking");
  };
  setTimeout(look, 300);
}
const running = document.getElementById("running");
if (running) {
  const bar = running.querySelector("progress"), told = document.getElementById("told");
  const look = async () => {
    try {
      const state = await (await fetch(running.dataset.state)).json();
      if (state.ended) { location.reload(); return; }
      if (state.total) { bar.max = state.total; bar.value = state.done; }
      told.textContent = (state.total ? `${state.done} of ${state.total}, ` : "") + `${state.seconds} s`;
    } catch { told.textContent = "The server does not answer."; }
    setTimeout(look, 500);
  };
  setTimeout(look, 300);
}

// The command, to be copied.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    try { await navigator.clipboard.writeText(field.value); } catch { document.execCommand("copy"); }
    document.getElementById("copied").textContent = "Copied.";
  });
}

// Counts: intervals follow what is typed.
const counts = document.getElementById("counts");
if (counts) {
  let waiting = 0, latest = 0;
  counts.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const mine = ++latest, address = `${counts.action}?${new URLSearchParams(new FormData(counts))}`;
      const page = await read(address);
      if (mine !== latest) return;
      document.getElementById("problem").replaceChildren(...page.getElementById("problem").childNodes);
      if (page.getElementById("counts").closest("main")) return;
      if (counts.closest("main")) { location.replace(address); return; }
      document.querySelector("main").replaceChildren(...page.querySelector("main").childNodes);
      document.getElementById("line").value = page.getElementById("line").value;
      history.replaceState(null, "", address);
    }, 300);
  });
}
