// Asks every five seconds for the data of this page, and shows the page again if they have changed. A link that has the
// focus keeps it, clocks go on, and a screen reader is told the scores that have changed.
"use strict";
(() => {
  // The texts are those of the page.
  const said = document.currentScript.dataset;
  const page = said.page;
  const news = document.createElement("p");
  news.setAttribute("role", "status");
  news.className = "unseen";
  document.querySelector("footer").append(news);
  let shown = null;
  let scores = null;
  let since = performance.now();
  const text = async (path) => {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(answer.statusText);
    return answer.text();
  };
  const tell = (data) => {
    const games = JSON.parse(data).games.filter((game) => game.scores.length);
    const now = games.map((game) => `${game.server || said.game}: ${game.scores.join(" : ")}`);
    const changed = scores === null ? [] : now.filter((score) => !scores.includes(score));
    if (changed.length) news.textContent = changed.join(". ");
    scores = now;
  };
  const replace = (content) => {
    const old = document.getElementById("content");
    const focused = old.contains(document.activeElement) ? document.activeElement.href : null;
    old.replaceWith(content);
    const links = [...content.querySelectorAll("a")];
    const same = focused && links.find((link) => link.href === focused);
    if (same) same.focus({ preventScroll: true });
    since = performance.now();
  };
  const clock = (millis) => {
    const seconds = Math.max(0, Math.floor(millis / 1000));
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  };
  const tick = () => {
    const passed = performance.now() - since;
    for (const element of document.querySelectorAll(".clock")) {
      const { played, left } = element.dataset;
      const words = [said.played.replace("{}", clock(Number(played) + passed))];
      if (left) words.push(said.left.replace("{}", clock(Number(left) - passed)));
      element.textContent = words.join(", ");
    }
  };
  const update = async () => {
    if (document.hidden) return;
    try {
      const data = await text(said.live);
      if (data === shown) return;
      const parsed = new DOMParser().parseFromString(await text(page), "text/html");
      const content = parsed.getElementById("content");
      if (!content) return;
      replace(content);
      tell(data);
      tick();
      const note = document.getElementById("updates");
      if (note) note.textContent = said.follows;
      shown = data;
    } catch (error) {
      const note = document.getElementById("updates");
      if (note) note.textContent = said.old;
    }
  };
  update();
  setInterval(update, 5000);
  setInterval(tick, 1000);
})();
