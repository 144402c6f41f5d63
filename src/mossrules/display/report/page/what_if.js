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

/** The sum, rule by rule: in the order of the rule set and in float64, as the library adds. */
function addUp(point, row) {
  let total = point.intercept;
  return point.rules.map((rule, i) => {
    const holds = data.rules[rule].tests.every((test) => testHolds(test, row.get(test.feature)));
    if (holds) total += point.weights[i];
    return { ...texts[shown].rules[i], holds, sum: total };
  });
}

/** Without an overflow for any sum. */
function probabilityOf(total) {
  const odds = Math.exp(-Math.abs(total));
  return (total > 0 ? 1 : odds) / (1 + odds);
}

/** Show inputs only for columns that the rules of the point use. */
function showFields() {
  for (const field of document.querySelectorAll(".field")) {
    field.hidden = !texts[shown].columns.includes(Number(field.dataset.column));
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
  const remedy = input.value.includes(",") ? "Use a decimal point" : "Write a number such as 12.5";
  place.textContent = isWrong ? `Not a number. ${remedy}, or leave it blank.` : "";
  place.hidden = !isWrong;
  if (isWrong) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

function showCase() {
  if (!byId("what-if")) return;
  showFields();
  const point = data.points[shown];
  const row = readRow();
  const terms = row && addUp(point, row);
  showSum(terms ?? []);
  showPrediction(terms && (terms.at(-1)?.sum ?? point.intercept));
}

function showSum(terms) {
  const { base, decimals } = texts[shown];
  const lines = (holds, template) =>
    terms
      .filter((term) => term.holds === holds)
      .map((term) =>
        lineFrom(template, term.rule, { ...term, total: signed(term.sum, decimals, "+") }),
      );
  const silent = lines(false, "silent-row");
  fill(byId("sum-base"), { weight: base, total: base });
  byId("sum-rows").replaceChildren(...lines(true, "sum-row"));
  byId("silent").hidden = silent.length === 0;
  byId("silent-words").textContent =
    silent.length === 1 ? "1 rule does not hold" : `${silent.length} rules do not hold`;
  byId("silent-rules").replaceChildren(...silent);
}

/** Show what a sum predicts; null if there is none. */
function showPrediction(total) {
  const place = byId("prediction");
  const isLogit = data.link === "logit";
  const value = isLogit && total !== null ? probabilityOf(total) : total;
  place.dataset.total = total ?? "";
  place.dataset.value = value ?? "";
  place.textContent = value === null ? "\u2013" : (isLogit ? percent : number)(value);
  if (isLogit) byId("odds-words").textContent = value === null ? "" : oddsWords(total, value);
}

function oddsWords(total, probability) {
  const sum = signed(total, texts[shown].decimals, "+");
  return `The sum, ${sum}, is the log-odds. The probability is 1 / (1 + exp(${MINUS}sum)) = ${number(probability)}.`;
}
