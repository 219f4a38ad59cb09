// Asks every five seconds for the data of this page, and shows the page again if they have changed.
"use strict";
(() => {
  const page = document.currentScript.dataset.page;
  let shown = null;
  const text = async (path) => {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(answer.statusText);
    return answer.text();
  };
  const update = async () => {
    if (document.hidden) return;
    try {
      const data = await text(page + ".json");
      if (data === shown) return;
      const parsed = new DOMParser().parseFromString(await text(page), "text/html");
      const content = parsed.getElementById("content");
      if (!content) return;
      document.getElementById("content").replaceWith(content);
      const note = document.getElementById("updates");
      if (note) note.textContent = "This page follows the games by itself.";
      shown = data;
    } catch (error) {
      const note = document.getElementById("updates");
      if (note) note.textContent = "The games cannot be asked for at the moment; what is shown may be old.";
    }
  };
  update();
  setInterval(update, 5000);
})();
