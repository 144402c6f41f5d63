// The point that is shown: its rules, and what changed since the one before.
// view.py has put every point into words; here they are put in their places.

const byId = (id) => document.getElementById(id);
const slot = (node, name) => node.querySelector(`[data-slot="${name}"]`);
const data = JSON.parse(byId("report-data").textContent);
const texts = JSON.parse(byId("report-texts").textContent); // of each point, by slot

/** Write words into the slots of a node that have their names. */
function fill(node, words) {
  for (const place of node.querySelectorAll("[data-slot]")) {
    if (place.dataset.slot in words) place.textContent = words[place.dataset.slot];
  }
}

const copyOf = (template) => byId(template).content.firstElementChild.cloneNode(true);

/** A line about a rule, from a template; the rule's own text is on the page once. */
function lineFrom(template, rule, words) {
  const line = copyOf(template);
  line.dataset.rule = rule;
  slot(line, "text").replaceChildren(...slot(copyOf(`rule-${rule}`), "text").childNodes);
  fill(line, words);
  return line;
}

function showRules(now, before) {
  const old = new Map(before.rules.map((row) => [row.rule, row.weight]));
  byId("rule-rows").replaceChildren(...now.rules.map((row) => ruleRow(row, old.get(row.rule))));
  byId("no-rules").hidden = now.rules.length > 0;
  fill(byId("base-value"), { weight: now.base, range: now.base_range });
  sayWas(byId("base-value"), now.base, before.base);
}

/** The row of a rule, which is new if it had no effect before. */
function ruleRow(words, old) {
  const row = copyOf(`rule-${words.rule}`);
  fill(row, words);
  for (const [name, value] of Object.entries(words.bar)) {
    row.querySelector(".bar rect").setAttribute(name, value);
  }
  showMeter(row.querySelector(".meter"), words);
  row.classList.toggle("came", old === undefined);
  slot(row, "new").hidden = old !== undefined;
  sayWas(row, words.weight, old ?? words.weight);
  return row;
}

/** How often refits found a rule; without a track record there is nothing to show. */
function showMeter(meter, words) {
  if (!meter) return;
  meter.toggleAttribute("hidden", !words.often);
  for (const name of ["often", "nearly"]) {
    meter.querySelector(`.${name}`).setAttribute("width", words[name] || "0");
  }
}

function sayWas(row, now, was) {
  slot(row, "was").hidden = now === was;
  slot(row, "was").textContent = now === was ? "" : `was ${was}`;
}

/** Say which rules are new and which were removed; returns the words. */
function showChanges(now, before) {
  const rulesOf = (point) => new Set(point.rules.map((row) => row.rule));
  const [new_, old] = [rulesOf(now), rulesOf(before)];
  const left = before.rules.filter((row) => !new_.has(row.rule));
  const came = now.rules.filter((row) => !old.has(row.rule));
  byId("left-out").replaceChildren(...left.map((row) => lineFrom("left-out-row", row.rule, row)));
  byId("changes").hidden = left.length === 0;
  const said = changeWords(came.length, left.length, before.point);
  byId("changes-words").textContent = said;
  return said;
}

function changeWords(came, left, name) {
  if (!came && !left) return `The same rules as ${name}, which was shown before.`;
  const rules = (count, kind) => `${count} ${kind}rule${count === 1 ? "" : "s"}`;
  return `Compared with ${name}, shown before: ${rules(came, "new ")}, ${rules(left, "")} removed.`;
}
