import { QueryClient } from "@tanstack/react-query";
import { ProblemError } from "./problems";

const RETRIES = 2;

/** One cache for all pages. Events of the server invalidate it, so data stays fresh without polling. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      networkMode: "always", // a server on this machine answers without a network
      retry: (failures, error) => failures < RETRIES && error instanceof ProblemError && error.status >= 502,
    },
    mutations: { networkMode: "always", retry: false },
  },
});
