import { useSyncExternalStore } from "react";

export type ConnectionState = "connecting" | "online" | "offline" | "signed-out";

/** State of the connection to the server, from every request and from the event stream. */
class Connection {
  private state: ConnectionState = "connecting";
  private listeners = new Set<() => void>();

  get = (): ConnectionState => this.state;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  answered(): void {
    if (this.state !== "signed-out") this.set("online");
  }

  failed(): void {
    if (this.state !== "signed-out") this.set("offline");
  }

  signedOut(): void {
    this.set("signed-out");
  }

  signedIn(): void {
    this.set("online");
  }

  private set(state: ConnectionState): void {
    if (state === this.state) return;
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}

export const connection = new Connection();

export function useConnection(): ConnectionState {
  return useSyncExternalStore(connection.subscribe, connection.get);
}
