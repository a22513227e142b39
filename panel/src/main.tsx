import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./styles/tokens.css";
import "./styles/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { startTheme } from "./app/theme";
import { preferredLanguage, setLanguage } from "./i18n";

startTheme();
const root = createRoot(document.getElementById("root")!);
void setLanguage(preferredLanguage()).finally(() =>
  root.render(
    <StrictMode>
      <App />
    </StrictMode>,
  ),
);
