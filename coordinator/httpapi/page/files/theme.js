// Runs before the first picture, so that a theme that a person has chosen does not flash.
"use strict";
{
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
