import { Component, type ReactNode } from "react";
import { ProblemView } from "@/components/States";

interface State {
  error: unknown;
}

/** Shows a failure of the panel itself instead of an empty page; the rest of the panel stays usable. */
export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return <ProblemView error={this.state.error} onRetry={() => this.setState({ error: null })} />;
  }
}
