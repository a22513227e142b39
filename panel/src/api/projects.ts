import { useQuery } from "@tanstack/react-query";
import { client, data } from "./client";

/** Keys without a project begin with an empty one: `["", noun, …]`. */
export function useServer() {
  return useQuery({ queryKey: ["", "server"], queryFn: ({ signal }) => data(client.GET("/api/v1/server", { signal })), staleTime: Infinity });
}

export function useProjects() {
  return useQuery({ queryKey: ["", "projects"], queryFn: ({ signal }) => data(client.GET("/api/v1/projects", { signal })) });
}
