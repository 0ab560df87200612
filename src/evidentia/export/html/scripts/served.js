// The page to drop a file on, inside the viewer: its language is the page's.

import { startVerifyPage } from "./verify-page.js";

const place = document.getElementById("verify-page");
startVerifyPage(place, { served: true, lang: place.lang === "ar" ? "ar" : "en" });
