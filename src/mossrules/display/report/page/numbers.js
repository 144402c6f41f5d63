// Numbers of a case, as numbers.py writes them: they stand beside amounts that come from there.

const MINUS = "\u2212";
const BOUNDS = [1000, 100, 10, 1, 0.1, 0.01, 0.001]; // below each, one more decimal

/** A number with four digits, or with all those before the point. */
function number(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return signed(value, null);
  const decimals = size === 0 ? 0 : BOUNDS.filter((bound) => size < bound).length;
  const text = signed(value, decimals);
  return decimals ? text.replace(/\.?0+$/, "") : text;
}

/** A share in percent: whole ones from ten up, and tenths below. */
function percent(share) {
  const percents = share * 100;
  let text = signed(percents, percents !== 0 && percents < 9.95 ? 1 : 0);
  if (percents > 0 && percents < 0.05) text = "<0.1";
  if (percents >= 99.5 && percents < 100) text = ">99";
  return `${text}\u00a0%`;
}

/** A number with some decimals and commas between thousands; null: with a power of ten. */
function signed(value, decimals, plus = "") {
  let [whole, part] = Math.abs(value).toFixed(decimals ?? 0).split(".");
  whole = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  let text = part === undefined ? whole : `${whole}.${part}`;
  if (decimals === null) text = value ? powerOfTen(Math.abs(value)) : "0";
  return (value < 0 && /[1-9]/.test(text) ? MINUS : plus) + text;
}

const powerOfTen = (size) => size.toExponential(3).replace("+", "").replace("-", MINUS);
