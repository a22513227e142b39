export interface StreamedEvent {
  name: string;
  data: unknown;
}

/** The server-sent events of an answer to a POST, as they arrive; `EventSource` can only GET. */
export async function* streamedEvents(stream: ReadableStream<BufferSource>): AsyncGenerator<StreamedEvent> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + value).split("\n\n");
      rest = events.pop()!;
      for (const event of events) {
        const fields = new Map(event.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()]));
        if (fields.has("data")) yield { name: fields.get("event") ?? "message", data: JSON.parse(fields.get("data")!) };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
