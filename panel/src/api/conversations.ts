import { useQuery } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";

export type Conversation = Schemas["Session"];
export type WindowReasons = NonNullable<ReturnType<typeof useWindow>["data"]>;
export type WindowMessage = WindowReasons["lines"][number];

const MOST = 100;

/** The newest conversations whose window is kept. */
export function useConversations() {
  const project = useProject();
  return useQuery({
    queryKey: [project, "sessions", "conversations"],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/conversations", { params: { path: { project }, query: { limit: MOST } }, signal })),
    select: (page) => page.items.filter((each) => each.context !== null),
  });
}

/** Every message of a conversation, and why it is in the window or not. */
export function useWindow(id: string) {
  const project = useProject();
  return useQuery({
    queryKey: [project, "sessions", "window", id],
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/projects/{project}/conversations/{id}/explanation", { params: { path: { project, id } }, signal })),
  });
}
