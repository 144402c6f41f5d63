// Export of the rules: by the clipboard or as a file.

const NAMES = { text: "text", sql: "SQL", python: "Python", json: "JSON" };

/** Copy text; false where the browser lets nobody. */
async function copy(text) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Refused, as in some frames and embedded viewers: the older way may still work.
    }
  }
  return copyBySelection(text);
}

function copyBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}

async function copyExport(point, kind, button) {
  const isCopied = await copy(point.exports[kind]);
  button.focus();
  byId("copied-box").hidden = isCopied;
  if (isCopied) {
    tell(`Copied as ${NAMES[kind]}.`);
  } else {
    const area = byId("copied-text");
    area.value = point.exports[kind];
    area.focus();
    area.select();
    tell("Your browser does not allow this page to copy. The text below is selected.");
  }
}

function downloadJson(point, position) {
  const address = URL.createObjectURL(new Blob([point.exports.json], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `rules-point-${position + 1}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000); // not before the browser has read it
  tell(`Saved as ${link.download}.`);
}

/** Say what was done, beside the buttons and to those who listen. */
function tell(words) {
  byId("copied").textContent = words;
  byId("copied").hidden = false;
  byId("live").textContent = words;
}
