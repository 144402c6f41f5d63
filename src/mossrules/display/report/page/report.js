// What joins the parts: one point is shown, by slider, buttons, figures or keys.

const OVER = 3; // pixels: marks that are no farther apart cannot be told from each other
const last = data.points.length - 1;
const slider = byId("point-slider");
let shown = data.chosen;

/** Show a point: all parts of the page follow. */
function show(position) {
  const next = Math.min(last, Math.max(0, position));
  if (next === shown) return;
  const [before, now] = [texts[shown], texts[next]];
  shown = next;
  showPlace();
  for (const part of document.querySelectorAll(".of-point")) fill(part, now);
  showRules(now, before);
  byId("live").textContent = showChanges(now, before);
  byId("copied").hidden = byId("copied-box").hidden = true;
  showCase();
}

/** Put slider, buttons and rings at the point that is shown. */
function showPlace() {
  document.body.dataset.point = shown;
  slider.value = last - shown; // right is more stable, as in the figure
  slider.setAttribute("aria-valuetext", texts[shown].words);
  setOff(byId("point-previous"), shown === 0);
  setOff(byId("point-next"), shown === last);
  for (const jump of document.querySelectorAll("[data-go]")) {
    jump.setAttribute("aria-current", String(Number(jump.dataset.go) === shown));
  }
  for (const chart of document.querySelectorAll(".chart")) moveRing(chart);
}

/** A button without effect keeps its focus, so that the keyboard is not lost at an end. */
function setOff(button, isOff) {
  button.setAttribute("aria-disabled", String(isOff));
}

function moveRing(chart) {
  const ring = chart.querySelector(".selection");
  const mark = chart.querySelector(`.mark[data-point="${shown}"]`);
  if (!ring) return;
  showRange(chart, mark);
  if (mark) {
    ring.setAttribute("transform", mark.getAttribute("transform"));
    ring.removeAttribute("display");
  } else {
    ring.setAttribute("display", "none");
  }
}

/** Show how sure the place of the point is; of marks with a name that is always seen. */
function showRange(chart, mark) {
  for (const range of chart.querySelectorAll(".range.moving")) {
    range.setAttribute("display", "none");
    range.classList.remove("moving");
  }
  const range = mark && mark.querySelector(".range");
  if (!range || !range.hasAttribute("display")) return;
  range.classList.add("moving");
  range.removeAttribute("display");
}

/**
 * Show the point whose mark is nearest to a click; dots are small, and fingers are not.
 * Where marks lie over each other, each further click shows the next of them.
 */
function showNearest(chart, event) {
  const marks = [...chart.querySelectorAll(".mark[data-point]")].map((mark) => {
    const box = mark.querySelector(".dot").getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const distance = Math.hypot(event.clientX - x, event.clientY - y);
    return { point: Number(mark.dataset.point), distance };
  });
  if (!marks.length) return;
  const nearest = marks.reduce((one, other) => (other.distance < one.distance ? other : one));
  const over = marks.filter((mark) => mark.distance < nearest.distance + OVER);
  const place = over.findIndex((mark) => mark.point === shown);
  show((place < 0 ? nearest : over[(place + 1) % over.length]).point);
}

function listen() {
  slider.addEventListener("input", () => show(last - Number(slider.value)));
  byId("point-previous").addEventListener("click", () => show(shown - 1));
  byId("point-next").addEventListener("click", () => show(shown + 1));
  for (const jump of document.querySelectorAll("[data-go]")) {
    jump.addEventListener("click", () => show(Number(jump.dataset.go)));
  }
  for (const chart of document.querySelectorAll(".chart")) {
    chart.addEventListener("click", (event) => showNearest(chart, event));
  }
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () =>
      copyExport(data.points[shown], button.dataset.copy, button),
    );
  }
  byId("download-json").addEventListener("click", () => downloadJson(data.points[shown], shown));
}

function listenToCase() {
  const form = byId("what-if-form");
  if (!form) return;
  form.addEventListener("input", showCase);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(showCase)); // typical only after the event
}

/** Paper shows what is folded, too. */
function listenToPrinter() {
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const details of folded) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });
}

for (const part of document.querySelectorAll(".scripted")) part.hidden = false;
listen();
listenToCase();
listenToPrinter();
showPlace();
showCase();
document.body.dataset.ready = "true";
