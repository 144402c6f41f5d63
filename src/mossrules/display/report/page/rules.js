// The point that is shown: its rules, what changed against the one before, and its certificate.
// Words are those of view.py.

const data = JSON.parse(document.getElementById("report-data").textContent);

const byId = (id) => document.getElementById(id);
const slot = (node, name) => node.querySelector(`[data-slot="${name}"]`);

/** Write into the slot of a node, if there is one. */
function fill(node, name, text) {
  const place = node && slot(node, name);
  if (place) place.textContent = text;
}

// Letters that are written from right to left, and marks that turn the direction around.
const TURNING =
  /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Write a rule, with names from right to left by themselves: "<= 98" behind stays behind. */
function writeRule(place, rule) {
  const names = rule.tests.flatMap((test) => [test.feature, ...(test.levels || [])]);
  const turning = [...new Set(names)].filter((n) => typeof n === "string" && TURNING.test(n));
  if (!turning.length) {
    place.textContent = rule.text;
    return;
  }
  turning.sort((a, b) => b.length - a.length);
  const escaped = turning.map((name) => name.replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&"));
  const pieces = rule.text.split(new RegExp(`(${escaped.join("|")})`));
  place.replaceChildren(...pieces.map((text, i) => (i % 2 ? isolated(text) : text)));
}

function isolated(text) {
  const node = document.createElement("bdi");
  node.textContent = text;
  return node;
}

/** A row made from the template that the page's own rows were made from. */
function rowFrom(template) {
  return byId(template).content.firstElementChild.cloneNode(true);
}

const fitWords = (point) => fixed(100 * point.explained, 1) + PERCENT;

function pointWords(position) {
  const point = data.points[position];
  const place = `point ${position + 1} of ${data.points.length}`;
  return `${place}: stability ${percent(point.stability)}, fit ${fitWords(point)}`;
}

/** The decimals of all amounts of a point: those that the largest weight needs. */
function decimalsOf(point) {
  if (Math.abs(point.intercept) >= 1e9) return null;
  const weights = point.weights.filter((weight) => weight !== 0);
  return decimalsFor(weights.length ? weights : [point.intercept]);
}

/** What cross-validation found, in words. */
function testedWords(found) {
  if (found === null) return { score: NOTHING, dice: NOTHING, rules: NOTHING };
  const error = found.score_se === null ? "" : ` ± ${fixed(found.score_se, 3)}`;
  const range =
    found.dice_low === null || found.dice_high === null
      ? ""
      : ` (${fixed(found.dice_low, 2)} to ${fixed(found.dice_high, 2)})`;
  return {
    score: fixed(found.score, 3) + error,
    dice: fixed(found.dice, 2) + range,
    rules: number(found.rules),
  };
}

/** Weights of a point by rule. */
const weightsOf = (point) => new Map(point.rules.map((rule, i) => [rule, point.weights[i]]));

function showRules(point, before) {
  const decimals = decimalsOf(point);
  const old = { weights: weightsOf(before), decimals: decimalsOf(before) };
  const largest = Math.max(0, ...point.weights.map(Math.abs)) || 1;
  const rows = point.rules.map((rule, i) => {
    const row = ruleRow(rule, point.weights[i], largest, decimals);
    const times = point.found === null ? NOTHING : `${point.found[i]} of ${data.folds}`;
    fill(row, "found", times);
    markChange(row, rule, amount(point.weights[i], decimals), old);
    return row;
  });
  byId("rule-rows").replaceChildren(...rows);
  byId("no-rules").hidden = rows.length > 0;
  const base = amount(point.intercept, decimals);
  fill(byId("base-value"), "weight", base);
  sayWas(byId("base-value"), base, amount(before.intercept, old.decimals));
}

function ruleRow(position, weight, largest, decimals) {
  const rule = data.rules[position];
  const row = rowFrom("rule-row");
  row.dataset.rule = position;
  writeRule(slot(row, "text"), rule);
  fill(row, "weight", amount(weight, decimals));
  fill(row, "odds", oddsRatio(Math.exp(Math.min(weight, 700))));
  fill(row, "support", percent(rule.support));
  fill(row, "proportion", percent(rule.proportion));
  const size = ((100 * Math.abs(weight)) / largest).toFixed(1);
  const bar = row.querySelector(".bar rect");
  bar.setAttribute("class", weight < 0 ? "minus" : "plus");
  bar.setAttribute("x", weight < 0 ? `-${size}` : "0");
  bar.setAttribute("width", size);
  return row;
}

/** Mark a rule that came, or say from what its weight changed. */
function markChange(row, rule, words, old) {
  if (!old.weights.has(rule)) {
    row.classList.add("came");
    slot(row, "new").hidden = false;
  } else {
    sayWas(row, words, amount(old.weights.get(rule), old.decimals));
  }
}

function sayWas(row, now, was) {
  const place = slot(row, "was");
  place.hidden = now === was;
  place.textContent = now === was ? "" : `was ${was}`;
}

/** Say which rules came and which were left out; returns the words. */
function showChanges(point, before, name) {
  const now = new Set(point.rules);
  const old = weightsOf(before);
  const left = before.rules.filter((rule) => !now.has(rule));
  const came = point.rules.filter((rule) => !old.has(rule)).length;
  const decimals = decimalsOf(before);
  const rows = left.map((rule) => {
    const row = rowFrom("left-out-row");
    row.dataset.rule = rule;
    writeRule(slot(row, "text"), data.rules[rule]);
    fill(row, "weight", amount(old.get(rule), decimals));
    return row;
  });
  byId("left-out").replaceChildren(...rows);
  const words = changeWords(came, left.length, name);
  byId("changes-words").textContent = words;
  byId("changes").hidden = left.length === 0;
  return words;
}

function changeWords(came, left, name) {
  if (!came && !left) return `The same rules as at ${name}, which was shown before.`;
  const plural = (count) => `${count} rule${count === 1 ? "" : "s"}`;
  return `Against ${name}, which was shown before: ${plural(came)} new, ${plural(left)} left out.`;
}

function showFigures(position) {
  const point = data.points[position];
  const tested = testedWords(point.evaluated);
  const figures = byId("point-figures");
  fill(figures, "stability", percent(point.stability));
  fill(figures, "explained", fitWords(point));
  fill(figures, "training", fixed(point.training, 3));
  fill(figures, "count", String(point.rules.length));
  fill(figures, "score", tested.score);
  fill(figures, "dice", tested.dice);
  const compared = byId("compared-shown");
  fill(compared, "point", `point ${position + 1}`);
  fill(compared, "score", tested.score);
  fill(compared, "dice", tested.dice);
  fill(compared, "tested-rules", tested.rules);
}

function showCertificate(point) {
  const { certificate } = point;
  const details = byId("certificate-details");
  const exactPercent = (share) => (share === null ? NOTHING : `${number(100 * share)}${PERCENT}`);
  byId("certificate-words").textContent = certificate.sentence;
  fill(details, "status", certificate.status);
  fill(details, "gap", exactPercent(certificate.gap));
  fill(details, "asked", exactPercent(certificate.asked));
  fill(details, "loss", number(point.loss));
  fill(details, "bound", number(certificate.bound));
  fill(details, "method", certificate.method);
  fill(details, "seconds", number(certificate.seconds));
  fill(details, "stopped", point.evaluated === null ? NOTHING : String(point.evaluated.stopped));
}
