import { useSearchParams } from "wouter";
import { ConversationPage } from "./ConversationPage";
import { SessionList } from "./SessionList";
import { SessionPage } from "./SessionPage";

/** The list of sessions, the page of one (`?id=`), or the window of a conversation (`?conversation=`). */
export default function SessionsPage() {
  const [search] = useSearchParams();
  const session = search.get("id");
  const conversation = search.get("conversation");
  if (conversation) return <ConversationPage key={conversation} id={conversation} />;
  if (session) return <SessionPage key={session} id={session} />;
  return <SessionList />;
}
