import { QueryClientProvider } from "@tanstack/react-query";
import { I18nProvider } from "react-aria-components";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { useConnection } from "@/api/connection";
import { useServer } from "@/api/projects";
import { queryClient } from "@/api/queryClient";
import { RecordActionsProvider } from "@/api/recordActions";
import { ProblemView, Skeleton } from "@/components/States";
import { ToastProvider } from "@/components/Toasts";
import { useT } from "@/i18n";
import { ErrorBoundary } from "./ErrorBoundary";
import { PAGES, pagePath } from "./pages";
import { ProjectProvider } from "./project";
import { Shell } from "./Shell";
import { ShortcutProvider } from "./shortcuts";
import { SignedOutPage } from "./SignedOutPage";

export function App() {
  const { language } = useT();
  return (
    <I18nProvider locale={language}>
      <ErrorBoundary>
        <QueryClientProvider client={queryClient}>
          <ShortcutProvider>
            <ToastProvider>
              <Content />
            </ToastProvider>
          </ShortcutProvider>
        </QueryClientProvider>
      </ErrorBoundary>
    </I18nProvider>
  );
}

function Content() {
  const state = useConnection();
  if (state === "signed-out") return <SignedOutPage />;
  return (
    <Switch>
      <Route path="/p/:project/:page">{({ project, page }) => <ProjectPages project={decoded(project)} page={page} />}</Route>
      <Route>
        <ToDefaultProject />
      </Route>
    </Switch>
  );
}

function ProjectPages({ project, page: id }: { project: string; page: string }) {
  const [path] = useLocation();
  const page = PAGES.find((each) => each.id === id);
  if (!page) return <Redirect to={pagePath(project, PAGES[0]!.id)} replace />;
  return (
    <ProjectProvider value={project} key={project}>
      <RecordActionsProvider>
        <Shell page={page}>
          <ErrorBoundary key={path}>
            <page.component />
          </ErrorBoundary>
        </Shell>
      </RecordActionsProvider>
    </ProjectProvider>
  );
}

function ToDefaultProject() {
  const server = useServer();
  if (server.isError) return <ProblemView error={server.error} onRetry={() => void server.refetch()} />;
  if (!server.data) return <Skeleton />;
  return <Redirect to={pagePath(server.data.default_project, PAGES[0]!.id)} replace />;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
