import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useProject } from "@/app/project";
import { client, data, type Schemas } from "./client";
import { connection } from "./connection";
import { streamedEvents } from "./eventStream";
import { offlineProblem, ProblemError } from "./problems";

export type Citation = Schemas["Citation"];

/** A sentence that a language model wrote, and the numbers of the passages that it cites. */
export interface AnswerSentence {
  text: string;
  numbers: number[];
}

export interface AnswerEnd {
  status: "written" | "not_found" | "unsupported" | "unavailable";
  reason: string;
  model: string;
  /** Sentences without a valid citation; they are not part of the answer. */
  left_out: string[];
  /** Private passages that the model was not given. */
  withheld: number;
}

export interface StreamedAnswer {
  quoted: Schemas["ExtractiveAnswer"];
  sentences: readonly AnswerSentence[];
  /** Missing while the answer is being written. */
  end?: AnswerEnd;
}

/** Quotations with numbered citations, then the sentences that a language model writes from them, if one is configured. */
export function useAnswer(question: string, isWithOutside: boolean) {
  const project = useProject();
  const cache = useQueryClient();
  const queryKey = [project, "ask", question, isWithOutside];
  return useQuery({
    queryKey,
    enabled: question !== "",
    staleTime: Infinity,
    retry: false,
    queryFn: async ({ signal }): Promise<StreamedAnswer> => {
      const path = "/api/v1/projects/{project}/ask/stream";
      const body = { question, limit: 8, tainted: isWithOutside };
      const stream = await data(client.POST(path, { params: { path: { project } }, body, parseAs: "stream", signal }));
      let answer: StreamedAnswer | undefined;
      try {
        for await (const event of streamedEvents(stream as ReadableStream<BufferSource>)) {
          answer = withEvent(answer, event.name, event.data);
          cache.setQueryData(queryKey, answer);
        }
      } catch (error) {
        if (signal.aborted) throw error;
      }
      if (answer?.end) return answer;
      connection.failed();
      throw new ProblemError(offlineProblem(path));
    },
  });
}

function withEvent(answer: StreamedAnswer | undefined, name: string, event: unknown): StreamedAnswer | undefined {
  if (name === "quotations") return { quoted: event as Schemas["ExtractiveAnswer"], sentences: [] };
  if (!answer) return answer;
  if (name === "sentence") return { ...answer, sentences: [...answer.sentences, event as AnswerSentence] };
  return name === "end" ? { ...answer, end: event as AnswerEnd } : answer;
}
