// A case to try: which rules hold for it, and how the prediction adds up.

const OTHER = Symbol("a value that training never saw"); // equal to no level

/** Read a number as people type it; undefined if it is none, null if it is missing. */
function readNumber(text) {
  const plain = text.trim().replaceAll("\u2212", "-");
  if (plain === "") return null;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value : undefined;
}

/** The value of a column as it was chosen or typed. */
function readField(column, input) {
  if (input.dataset.kind === "numeric") return readNumber(input.value);
  if (input.value === "missing") return null;
  if (input.value === "other") return OTHER;
  if (input.dataset.kind === "boolean") return input.value === "true" ? 1 : 0;
  return column.choices[Number(input.value)];
}

function testHolds(test, value) {
  if ("levels" in test) return test.levels.includes(value) === test.inside;
  if (value === null) return test.missing;
  const over = test.above === null || value > test.above;
  return test.present && over && (test.most === null || value <= test.most);
}

const ruleHolds = (rule, row) => rule.tests.every((test) => testHolds(test, row.get(test.feature)));

/** The sum, rule by rule: in the order of the rule set and in float64, as the library adds. */
function addUp(point, row) {
  let total = point.intercept;
  const terms = point.rules.map((rule, i) => {
    const holds = ruleHolds(data.rules[rule], row);
    if (holds) total += point.weights[i];
    return { rule, weight: point.weights[i], holds, total };
  });
  return { terms, total };
}

/** Without an overflow for any sum. */
function probabilityOf(total) {
  const odds = Math.exp(-Math.abs(total));
  return (total > 0 ? 1 : odds) / (1 + odds);
}

/** Show inputs for those columns only that rules of the point ask for. */
function showFields(point) {
  const asked = new Set(point.rules.flatMap((rule) => data.rules[rule].tests.map((t) => t.feature)));
  for (const field of document.querySelectorAll(".field")) {
    field.hidden = !asked.has(data.data.columns[field.dataset.column].name);
  }
}

/** The row that the inputs give, or null if one of those displayed cannot be read. */
function readRow() {
  const row = new Map();
  let isRead = true;
  for (const field of document.querySelectorAll(".field")) {
    const column = data.data.columns[field.dataset.column];
    const input = byId(`what-if-${field.dataset.column}`);
    const value = readField(column, input);
    sayError(input, value === undefined);
    if (value === undefined && !field.hidden) isRead = false;
    row.set(column.name, value);
  }
  return isRead ? row : null;
}

function sayError(input, isWrong) {
  const place = byId(`${input.id}-error`);
  const comma = input.value.includes(",");
  const remedy = comma ? "write decimals with a point" : "write one such as 12.5";
  place.textContent = isWrong ? `This is no number; ${remedy}, or leave it empty.` : "";
  place.hidden = !isWrong;
  if (isWrong) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

function showCase(point) {
  if (!byId("what-if")) return;
  const row = readRow();
  const sum = row && addUp(point, row);
  showSum(point, sum ? sum.terms : []);
  showPrediction(point, sum);
}

function showSum(point, terms) {
  const decimals = decimalsOf(point);
  fill(byId("sum-base"), "adds", amount(point.intercept, decimals));
  fill(byId("sum-base"), "total", amount(point.intercept, decimals));
  const holding = terms.filter((term) => term.holds);
  const rows = holding.map((term) => {
    const row = rowFrom("sum-row");
    row.dataset.rule = term.rule;
    writeRule(slot(row, "text"), data.rules[term.rule]);
    fill(row, "adds", amount(term.weight, decimals));
    fill(row, "total", amount(term.total, decimals));
    return row;
  });
  byId("sum-rows").replaceChildren(...rows);
  showSilent(terms.filter((term) => !term.holds));
}

function showSilent(terms) {
  const count = terms.length;
  byId("silent").hidden = count === 0;
  byId("silent-words").textContent =
    count === 1 ? "1 rule does not hold" : `${count} rules do not hold`;
  const items = terms.map((term) => {
    const item = document.createElement("li");
    item.dataset.rule = term.rule;
    item.dir = "auto";
    item.className = "user";
    writeRule(item, data.rules[term.rule]);
    return item;
  });
  byId("silent-rules").replaceChildren(...items);
}

function showPrediction(point, sum) {
  const place = byId("prediction");
  const odds = byId("odds-words");
  if (sum === null) {
    place.textContent = NOTHING;
    place.dataset.value = place.dataset.total = "";
    if (odds) odds.textContent = "";
    return;
  }
  const isLogit = data.link === "logit";
  const value = isLogit ? probabilityOf(sum.total) : sum.total;
  place.dataset.total = String(sum.total);
  place.dataset.value = String(value);
  place.textContent = isLogit ? percent(value) : number(value);
  if (odds) odds.textContent = oddsWords(amount(sum.total, decimalsOf(point)), value);
}

function oddsWords(total, probability) {
  return `The sum, ${total}, is the log-odds; the probability is 1 / (1 + exp(${MINUS}sum)) = ${number(probability)}.`;
}
