// Numbers as the page shows them: the same functions as in numbers.py, letter by letter, so that
// whoever moves away from a point and comes back finds it unchanged.

const NOTHING = "–";
const MINUS = "\u2212";
const PERCENT = "\u00a0%";
const BOUNDS = [1000, 100, 10, 1, 0.1, 0.01, 0.001]; // below each, one more decimal

/** A number with four digits, or with all those before the point. */
function number(value) {
  if (value === null) return NOTHING;
  const decimals = decimalsFor([value]);
  let text = unsigned(value, decimals);
  if (decimals && !text.includes("e")) text = text.replace(/\.?0+$/, "");
  return (isNegative(value, text) ? MINUS : "") + text;
}

/** A number with some decimals. */
function fixed(value, decimals) {
  if (value === null) return NOTHING;
  const text = unsigned(value, decimals);
  return (isNegative(value, text) ? MINUS : "") + text;
}

/** A number with its sign and the decimals of its neighbours, to be added up. */
function amount(value, decimals) {
  if (value === null) return NOTHING;
  const text = unsigned(value, decimals);
  return (isNegative(value, text) ? MINUS : "+") + text;
}

/** A share in percent: whole ones from ten up, and tenths below. */
function percent(share) {
  if (share === null) return NOTHING;
  const percents = share * 100;
  if (percents > 0 && percents < 0.05) return `<0.1${PERCENT}`;
  if (percents >= 99.5 && percents < 100) return `>99${PERCENT}`;
  return `${fixed(percents, percents !== 0 && Math.abs(percents) < 9.95 ? 1 : 0)}${PERCENT}`;
}

/** By how much odds are multiplied, with three digits. */
function oddsRatio(ratio) {
  if (ratio === null) return NOTHING;
  if (ratio >= 1000) return ">1000";
  return ratio < 0.001 ? "<0.001" : unsigned(ratio, decimalsFor([ratio], 3));
}

/** The decimals that show the largest of values with some digits; null: powers of ten. */
function decimalsFor(values, digits = 4) {
  const largest = Math.max(0, ...values.filter((value) => value !== null).map(Math.abs));
  if (largest === 0) return 0;
  if (largest < 1e-4 || largest >= 1e9) return null;
  return Math.max(0, BOUNDS.filter((bound) => largest < bound).length - (4 - digits));
}

function unsigned(value, decimals) {
  const size = Math.abs(value);
  if (decimals === null) {
    return size === 0 ? "0" : size.toExponential(3).replace("+", "").replace("-", MINUS);
  }
  const [whole, part] = size.toFixed(decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part === undefined ? grouped : `${grouped}.${part}`;
}

function isNegative(value, text) {
  return value < 0 && /[1-9]/.test(text);
}
